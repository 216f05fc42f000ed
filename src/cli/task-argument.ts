import { usageError } from "./cli-error.ts";
import type { Session } from "./session.ts";

/** The task that was named: by itself, else by its option or a variable. */
export function taskArgument(named: string | undefined, { settings, sources }: Session): string {
  const isTyped = sources.flags["taskId"] !== undefined;
  if (named !== undefined && isTyped && settings.taskId !== named) {
    throw usageError(`Two tasks are named: ${named} and ${settings.taskId}.`, "Name one of them.");
  }
  const id = named ?? settings.taskId;
  if (id === undefined || id === "") throw usageError("No task is named.", "palaver task list shows them.");
  return id;
}
