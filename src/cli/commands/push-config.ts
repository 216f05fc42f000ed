import type { Command } from "commander";
import type { RemotePush } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { PushConfig } from "../../protocol/operation.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { ownSetting } from "../options/own-option.ts";
import { runSession, type Session } from "../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../session/task-argument.ts";
import { agentCommand, type CommandText, groupCommand } from "./agent.ts";

const CONFIG_ID = { flags: "--config-id <id>", description: "which configuration" };

export function pushConfigCommand(context: CliContext): Command {
  return groupCommand("push-config", "Manages where an agent reports on a task.", [
    createCommand(context),
    subcommand(context, "get", {
      description: "Shows one configuration; the latest, if none is named.",
      own: [CONFIG_ID],
      examples: [["palaver task push-config get ID --config-id C", "show it"]],
      async run({ session, push, taskId }) {
        await session.output.pushConfig(taskId, await push.get(configId(session), { signal: session.signal }));
      },
    }),
    subcommand(context, "list", {
      description: "Lists a task's configurations.",
      examples: [["palaver task push-config list ID -o json", "as JSON"]],
      async run({ session, push, taskId }) {
        await session.output.pushConfigs(taskId, await push.list({ signal: session.signal }));
      },
    }),
    subcommand(context, "delete", {
      description: "Deletes a configuration.",
      own: [CONFIG_ID],
      examples: [["palaver task push-config delete ID --config-id C", "the agent no longer reports there"]],
      async run({ session, push, taskId }) {
        const id = configId(session);
        if (id === undefined) throw usageError("No configuration is named.", "Say which: --config-id ID");
        await push.delete(id, { signal: session.signal });
        await session.output.own({
          json: { taskId, id, deleted: true },
          fields: [
            ["Task", taskId],
            ["Config", id],
            ["Deleted", "yes"],
          ],
        });
      },
    }),
  ]);
}

interface PushRun {
  readonly session: Session;
  readonly push: RemotePush;
  readonly taskId: string;
}

interface PushText extends CommandText {
  readonly run: (run: PushRun) => Promise<void>;
}

function subcommand(context: CliContext, name: string, { run, ...text }: PushText): Command {
  const command = agentCommand(name, { ...text, options: ["task-id"], descriptions: TASK_ID_OPTION }).argument(
    "[task-id]",
    "the task",
  );
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const taskId = taskArgument(named, session);
      const agent = await session.connect();
      if (agent.card.capabilities.pushNotifications !== true) {
        throw new RemoteError("push-not-supported", `The agent "${agent.card.name}" sends no push notifications.`);
      }
      await run({ session, push: agent.task(taskId).push, taskId });
    }),
  );
}

function createCommand(context: CliContext): Command {
  return subcommand(context, "create", {
    description: "Has an agent report on a task to a URL.",
    own: [
      { flags: "--url <url>", description: "where to report to" },
      { flags: "--token <token>", description: "what shows that it is the agent; better in A2ACLI_TOKEN" },
      { flags: "--auth-scheme <scheme>", description: "how the agent authenticates there, such as Bearer" },
      { flags: "--auth-credentials <text>", description: "with what; better in A2ACLI_AUTH_CREDENTIALS" },
      { flags: "--config-id <id>", description: "what to call it (default: as the agent sees fit)" },
    ],
    examples: [["palaver task push-config create ID --url https://me.example.org/hook", "report there"]],
    async run({ session, push, taskId }) {
      const config = configFrom(session);
      await session.output.pushConfig(taskId, await push.create(config, { signal: session.signal }));
    },
  });
}

function configFrom(session: Session): PushConfig {
  const get = (name: string): string | undefined => ownSetting(session.sources, name);
  const [url, token, scheme, credentials, id] = [
    get("url"),
    get("token"),
    get("auth-scheme"),
    get("auth-credentials"),
    configId(session),
  ];
  if (url === undefined || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw usageError("A URL to report to must be given.", "For example: --url https://me.example.org/hook");
  }
  if (credentials !== undefined && scheme === undefined) {
    throw usageError("Credentials need a scheme.", "For example: --auth-scheme Bearer");
  }
  for (const secret of [token, credentials]) session.redaction.hide(secret);
  return {
    url,
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(scheme !== undefined && {
      authentication: { schemes: [scheme], ...(credentials !== undefined && { credentials }) },
    }),
  };
}

function configId(session: Session): string | undefined {
  return ownSetting(session.sources, "config-id");
}
