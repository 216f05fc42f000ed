import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { groupCommand } from "./agent.ts";
import { pushConfigCommand } from "./push-config.ts";
import { taskCancelCommand } from "./task-cancel.ts";
import { taskDownloadCommand } from "./task-download.ts";
import { taskGetCommand } from "./task-get.ts";
import { taskListCommand } from "./task-list.ts";
import { taskSubscribeCommand } from "./task-subscribe.ts";
import { taskTreeCommand } from "./tree/task-tree.ts";

/** The group `palaver task`. */
export function taskCommand(context: CliContext): Command {
  return groupCommand("task", "Show, follow, cancel and download tasks.", [
    taskGetCommand(context),
    taskListCommand(context),
    taskCancelCommand(context),
    taskSubscribeCommand(context),
    taskDownloadCommand(context),
    taskTreeCommand(context),
    pushConfigCommand(context),
  ]);
}
