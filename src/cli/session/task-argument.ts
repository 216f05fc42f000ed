import { usageError } from "../cli-error.ts";
import type { Session } from "./session.ts";

/** The description of `--task-id` in commands that also take the task as an argument. */
export const TASK_ID_OPTION = { "task-id": "the task, instead of the argument" } as const;

/** The task id: the argument, else `--task-id` or its variable. */
export function taskArgument(named: string | undefined, session: Session): string {
  const { settings, sources, agentFlags } = session;
  const isTyped = sources.flags["taskId"] !== undefined;
  if (named !== undefined && isTyped && settings.taskId !== named) {
    throw usageError(`Two task ids are given: ${named} and ${settings.taskId}.`, "Give only one of them.");
  }
  const id = named ?? settings.taskId;
  if (id === undefined || id === "")
    throw usageError("The task id is missing.", `To list your tasks: palaver task list ${agentFlags}`.trimEnd());
  session.aboutId(id);
  return id;
}
