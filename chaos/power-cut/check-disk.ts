import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { connect, textOf } from "../../src/client.ts";
import { createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { isTerminal } from "../../src/protocol/state.ts";
import { storyteller } from "./storyteller.ts";

/** What callers knew before the power failed, by task id. */
export interface Known {
  /** The text that a stream has shown, or the whole text of an answer. */
  readonly text: string;
  readonly isDone: boolean;
}

/** Starts a server with the files of a disk after a power failure. Returns what is wrong, in words. */
export async function checkDisk(
  files: ReadonlyMap<string, Buffer>,
  known: ReadonlyMap<string, Known>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "palaver-power-cut-"));
  try {
    for (const [name, content] of files) writeFileSync(join(folder, name), content);
    const problems = await checkTasks(join(folder, "palaver.db"), known);
    return [...checkIntegrity(join(folder, "palaver.db")), ...problems];
  } catch (error) {
    return [`The store could not be opened: ${String(error)}`];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function checkIntegrity(file: string): readonly string[] {
  const database = new DatabaseSync(file);
  try {
    const rows = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((text) => text !== "ok");
  } finally {
    database.close();
  }
}

async function checkTasks(file: string, known: ReadonlyMap<string, Known>): Promise<readonly string[]> {
  const options = { store: `sqlite:${file}`, port: 0, logger: SILENT_LOGGER, drainTimeout: 0 };
  const server = createServer(storyteller, options);
  const problems: string[] = [];
  try {
    const { url } = await server.listen();
    const agent = await connect(url);
    for (const [id, { text, isDone }] of known) {
      const task = await agent
        .task(id)
        .get()
        .catch((error: unknown) => String(error));
      if (typeof task === "string") {
        problems.push(`Task ${id} is gone: ${task}`);
        continue;
      }
      if (isDone && task.status.state !== "completed") problems.push(`Task ${id} was completed and is not.`);
      // A task that was cut off continues, and what was seen must be the beginning of it.
      const ended = isTerminal(task.status.state) ? task : await agent.task(id).wait();
      const stored = textOf((ended.artifacts ?? []).flatMap(({ parts }) => parts));
      if (!stored.startsWith(text) || (isDone && stored !== text))
        problems.push(`Task ${id} showed ${JSON.stringify(text)}, and has ${JSON.stringify(stored)}.`);
    }
  } finally {
    await server.close();
  }
  return problems;
}
