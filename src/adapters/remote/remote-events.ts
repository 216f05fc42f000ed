import { setTimeout as wait } from "node:timers/promises";
import type { RemoteStreamEvent, RemoteTask } from "../../client/api.ts";
import { isSameStatus } from "../../client/follow/task-view.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";

/** Milliseconds between polls of a task that waits for an authorization. */
const POLL_INTERVAL = 2_000;

/** When the events end. */
export interface FollowAgainOptions {
  readonly signal: AbortSignal;
  readonly trace: TraceContext | undefined;
  /** The question that has been answered. */
  readonly answered: TaskStatus | undefined;
}

/**
 * The events of a task after a pause: first the task as it is, then what follows. Not every agent starts a subscription with the current task, so the task
 * is read before the subscription and again at its end.
 */
export async function* followAgain(
  task: RemoteTask,
  { signal, trace, answered }: FollowAgainOptions,
): AsyncGenerator<RemoteStreamEvent, void> {
  const isLeft = (status: TaskStatus): boolean =>
    isTerminal(status.state) ||
    (isInterrupted(status.state) && (answered === undefined || !isSameStatus(answered, status)));
  const now = await task.get({ signal, trace });
  yield { kind: "task", task: now };
  if (isLeft(now.status)) return;
  for await (const event of task.subscribe({ signal, trace, result: "none" })) {
    if (event.kind === "message") continue;
    if (event.kind !== "artifact") {
      const status = event.kind === "task" ? event.task.status : event.status;
      if (isLeft(status)) {
        yield { kind: "task", task: await task.get({ signal, trace }) };
        yield event;
        return;
      }
    }
    yield event;
  }
}

/** Whether an event differs from the known status. */
export function isNewEvent(event: TaskEvent, known: TaskStatus | undefined): boolean {
  if (known === undefined) return true;
  if (isTerminal(known.state)) return false;
  return event.kind !== "status" || !isSameStatus(known, event.status);
}

/** Resolves when the task no longer waits for its authorization. Keeps polling while the agent cannot be reached. */
export async function whenChanged(task: RemoteTask, signal: AbortSignal): Promise<void> {
  for (;;) {
    await wait(POLL_INTERVAL, undefined, { signal });
    const now = await task.get({ signal }).catch(() => undefined);
    if (now !== undefined && now.status.state !== "auth-required") return;
  }
}
