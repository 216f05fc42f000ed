import { resolve } from "node:path";
import type { Command } from "commander";
import { oneLine } from "../../internal/terminal-text.ts";
import { officialState } from "../../wire/official-json.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { type SavedFile, saveArtifacts } from "../session/save-artifacts.ts";
import { runSession } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { agentCommand } from "./agent.ts";

/** `palaver task download`. URLs are followed only on request: the agent chooses them. */
export function taskDownloadCommand(context: CliContext): Command {
  const command = agentCommand("download", {
    description: "Save the artifacts of a task as files.",
    options: ["task-id"],
    descriptions: TASK_ID_OPTION,
    own: [
      { flags: "--dir <folder>", description: "target folder (default: the current folder)" },
      { flags: "--artifact <id>", description: "only the artifact with this id or name" },
      { flags: "--overwrite", description: "overwrite existing files" },
      { flags: "--follow-urls", description: "download files that the agent gives only as URLs" },
    ],
    examples: [
      ["palaver task download ID --dir out -a http://127.0.0.1:3000", "everything, into the folder out"],
      ["palaver task download ID --artifact report", "one artifact"],
    ],
  }).argument("[task-id]", "the task");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const { dir, artifact, overwrite, followUrls }: DownloadFlags = command.opts();
      const id = taskArgument(named, session);
      const task = await (await session.connect()).task(id).get({ signal: session.signal });
      const artifacts = (task.artifacts ?? []).filter(
        ({ artifactId, name }) => artifact === undefined || artifactId === artifact || name === artifact,
      );
      if (artifact !== undefined && artifacts.length === 0) {
        const names = (task.artifacts ?? []).map(({ name, artifactId }) => name ?? artifactId);
        throw usageError(
          `The task has no artifact "${artifact}".`,
          `It has: ${names.map(oneLine).join(", ") || "none"}`,
        );
      }
      const { saved, left } = await saveArtifacts(artifacts, {
        folder: resolve(context.cwd, dir ?? "."),
        overwrite: overwrite === true,
        ...(followUrls === true && { send: session.send }),
        signal: session.signal,
      });
      for (const url of left) await session.warn(`${url} was not downloaded. Use --follow-urls to download URLs.`);
      await session.output.own({
        json: {
          taskId: task.id,
          contextId: task.contextId,
          state: officialState(task.status),
          files: saved,
          notFetched: left,
        },
        fields: [
          ["Task", task.id],
          ["Context", task.contextId],
          ["State", officialState(task.status)],
          ...saved.map((file) => ["Saved", describe(file)] as const),
        ],
      });
    }),
  );
}

interface DownloadFlags {
  readonly dir?: string;
  readonly artifact?: string;
  readonly overwrite?: boolean;
  readonly followUrls?: boolean;
}

function describe({ path, mediaType, bytes }: SavedFile): string {
  return `${path} (${mediaType ?? "application/octet-stream"}, ${bytes} bytes)`;
}
