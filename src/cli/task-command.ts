import type { Command } from "commander";
import { groupCommand } from "./agent-command.ts";
import type { CliContext } from "./context.ts";
import { pushConfigCommand } from "./push-config-command.ts";
import { taskCancelCommand } from "./task-cancel-command.ts";
import { taskDownloadCommand } from "./task-download-command.ts";
import { taskGetCommand } from "./task-get-command.ts";
import { taskListCommand } from "./task-list-command.ts";
import { taskSubscribeCommand } from "./task-subscribe-command.ts";

export function taskCommand(context: CliContext): Command {
  return groupCommand("task", "Looks at tasks, follows and cancels them, and saves what they made.", [
    taskGetCommand(context),
    taskListCommand(context),
    taskCancelCommand(context),
    taskSubscribeCommand(context),
    taskDownloadCommand(context),
    pushConfigCommand(context),
  ]);
}
