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

const CONFIG_ID = { flags: "--config-id <id>", description: "id of the webhook configuration" };

/** `palaver task push-config create | get | list | delete`. */
export function pushConfigCommand(context: CliContext): Command {
  return groupCommand("push-config", "Manage the webhooks of a task.", [
    createCommand(context),
    subcommand(context, "get", {
      description: "Show one webhook (default: the latest).",
      own: [CONFIG_ID],
      examples: [["palaver task push-config get ID --config-id C", "show the webhook C"]],
      async run({ session, push, taskId }) {
        await session.output.pushConfig(taskId, await push.get(configId(session), { signal: session.signal }));
      },
    }),
    subcommand(context, "list", {
      description: "List the webhooks of a task.",
      examples: [["palaver task push-config list ID -o json", "as JSON"]],
      async run({ session, push, taskId }) {
        await session.output.pushConfigs(taskId, await push.list({ signal: session.signal }));
      },
    }),
    subcommand(context, "delete", {
      description: "Delete a webhook of a task.",
      own: [CONFIG_ID],
      examples: [["palaver task push-config delete ID --config-id C", "stop notifications to the webhook C"]],
      async run({ session, push, taskId }) {
        const id = configId(session);
        if (id === undefined)
          throw usageError(
            "The webhook id is missing.",
            "Add --config-id ID; palaver task push-config list shows the ids.",
          );
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

/** What a subcommand works with: the agent is connected and supports webhooks. */
interface PushRun {
  readonly session: Session;
  readonly push: RemotePush;
  readonly taskId: string;
}

interface PushText extends CommandText {
  readonly run: (run: PushRun) => Promise<void>;
}

/** Fails before the operation is called if the card does not declare push notifications (A2A 1.0 §3.3.4). */
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
    description: "Have the agent notify a URL about a task.",
    own: [
      { flags: "--url <url>", description: "URL to notify" },
      {
        flags: "--token <token>",
        description: "token that notifications carry, to recognise them; safer in A2ACLI_TOKEN",
      },
      { flags: "--auth-scheme <scheme>", description: "HTTP authentication scheme at that URL, such as Bearer" },
      {
        flags: "--auth-credentials <text>",
        description: "credentials for that scheme; safer in A2ACLI_AUTH_CREDENTIALS",
      },
      { flags: "--config-id <id>", description: "id of the new webhook (default: the agent chooses)" },
    ],
    examples: [["palaver task push-config create ID --url https://me.example.org/hook", "notify that URL"]],
    async run({ session, push, taskId }) {
      const config = configFrom(session);
      await session.output.pushConfig(taskId, await push.create(config, { signal: session.signal }));
    },
  });
}

/** Throws a usage error for a missing URL and for credentials without a scheme. */
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
    throw usageError("The webhook URL is missing or invalid.", "For example: --url https://me.example.org/hook");
  }
  if (credentials !== undefined && scheme === undefined) {
    throw usageError("--auth-credentials needs --auth-scheme.", "For example: --auth-scheme Bearer");
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
