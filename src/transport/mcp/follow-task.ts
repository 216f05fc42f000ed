import type { TaskId } from "../../protocol/ids.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { Scope } from "../../protocol/principal.ts";
import { readEvent, type StoredTask } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import { taskNotFound } from "../../server/refusals.ts";
import type { Service } from "../../server/service.ts";

/** Results of more bytes are not sent over MCP: they are read whole, and no model reads more. */
export const MAX_RESULT_BYTES: number = 8 * 1024 * 1024;
/** The most characters of a progress message. */
const MAX_PROGRESS = 1000;

export interface FollowOptions {
  /** Milliseconds to wait at most. Default: until the task stops. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with what the task did: texts of its results, or of its status. */
  readonly progress?: ((seq: number, text: string) => void) | undefined;
}

/**
 * Waits for events after `task`, until the task has ended or asks something. Returns the task at that time; earlier if the wait is over or the server
 * shuts down. Rejects if the signal aborts.
 */
export async function followTask(
  service: Service,
  scope: Scope,
  { task, options }: { readonly task: StoredTask; readonly options: FollowOptions },
): Promise<StoredTask> {
  const { signal, waitMs, progress } = options;
  signal.throwIfAborted();
  const subscription = await service.engine.subscribe(scope, task.id, { after: task.seq });
  if (subscription === undefined) throw taskNotFound(task.id);
  const close = (): void => subscription.close();
  const timer = waitMs === undefined ? undefined : setTimeout(close, waitMs);
  signal.addEventListener("abort", close, { once: true });
  try {
    if (!subscription.ended && !subscription.resync) {
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
        const last = batch.entries.at(-1);
        if (progress !== undefined && last !== undefined) progress(last.seq, progressText(batch.entries));
        if (last?.state !== undefined && (isTerminal(last.state) || isInterrupted(last.state))) break;
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", close);
    subscription.close();
  }
  signal.throwIfAborted();
  return readWholeTask(service, scope, task.id);
}

/** The task with its artifacts. Throws `task-not-found`. */
export async function readWholeTask(service: Service, scope: Scope, id: TaskId): Promise<StoredTask> {
  const task = await service.engine.snapshot(scope, id, { artifacts: true, history: 0, largeBytes: MAX_RESULT_BYTES });
  if (task === undefined) throw taskNotFound(id);
  return task;
}

/** The new texts of results; if there are none, the last status text. */
function progressText(entries: readonly { readonly body: string }[]): string {
  const events = entries.map(({ body }) => readEvent(body));
  const chunks = events.map((event) => (event.kind === "artifact" ? textOf(event.artifact.parts) : "")).join("");
  if (chunks !== "") return chunks.slice(0, MAX_PROGRESS);
  const status = events.findLast((event) => event.kind === "status");
  const parts: readonly Part[] = status?.kind === "status" ? (status.status.message?.parts ?? []) : [];
  const text = textOf(parts);
  return (text === "" && status?.kind === "status" ? status.status.state : text).slice(0, MAX_PROGRESS);
}
