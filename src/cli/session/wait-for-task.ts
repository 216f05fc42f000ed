import type { RemoteTask } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { progressText } from "../output/progress.ts";
import type { Session } from "./session.ts";

/** Whether the task is finished or waits for its caller. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** The longest pause between polls of an unchanged task, as a multiple of `--poll-interval`. */
const MAX_STRETCH = 5;
/** The pause grows by this factor with each poll of an unchanged task. */
const STRETCH = 1.25;
/** How many polls in a row may fail before the command fails. */
const MAX_FAILURES = 5;
/** Errors after which the next poll may succeed. */
const PASSING: ReadonlySet<string> = new Set(["network", "unavailable", "rate-limited", "timeout"]);

/** Polls a task until it is finished or waits for its caller. `known` is its last known state. */
export async function waitForTask(
  session: Session,
  remote: RemoteTask,
  { known, historyLength }: { readonly known?: Task | undefined; readonly historyLength?: number | undefined },
): Promise<Task> {
  const { context, settings, signal, progress } = session;
  const options = { signal, ...(historyLength !== undefined && { historyLength }) };
  let stretch = 1;
  let failures = 0;
  let task = known;
  for (;;) {
    if (task !== undefined) {
      session.about(task);
      if (isSettled(task.status.state)) return task;
      progress.say(progressText(task));
      await context.sleep(settings.pollInterval * stretch, signal);
    }
    try {
      const next = await remote.get(options);
      const isSame = task?.status.state === next.status.state && task.status.timestamp === next.status.timestamp;
      stretch = isSame ? Math.min(stretch * STRETCH, MAX_STRETCH) : 1;
      failures = 0;
      task = next;
    } catch (error) {
      if (task === undefined || signal.aborted || !isPassing(error) || ++failures >= MAX_FAILURES) throw error;
      stretch = Math.min(stretch * 2, MAX_STRETCH);
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof RemoteError && PASSING.has(error.code);
}
