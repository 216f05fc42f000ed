import { usageError } from "../cli-error.ts";
import type { Session } from "./session.ts";

/** What `--task-id` means in commands that take the task as an argument too. */
export const TASK_ID_OPTION = { "task-id": "the task, instead of the argument" } as const;

/** The task that was named: by itself, else by its option or a variable. */
export function taskArgument(named: string | undefined, session: Session): string {
  const { settings, sources, agentFlags } = session;
  const isTyped = sources.flags["taskId"] !== undefined;
  if (named !== undefined && isTyped && settings.taskId !== named) {
    throw usageError(`Two tasks are named: ${named} and ${settings.taskId}.`, "Name one of them.");
  }
  const id = named ?? settings.taskId;
  if (id === undefined || id === "")
    throw usageError("No task is named.", `To see yours: palaver task list ${agentFlags}`.trimEnd());
  session.aboutId(id);
  return id;
}
