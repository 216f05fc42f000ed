import { A2AError } from "../../protocol/error.ts";
import { readEvent, type StoredTask, writeStatus } from "../../protocol/serial.ts";
import type { Store } from "../../store/contract.ts";
import type { SnapshotOptions } from "../api.ts";
import type { Feed } from "./feed.ts";
import { isStatusBody } from "./log-view.ts";
import { readLog } from "./read-log.ts";
import { assembledTask, unlessDropped } from "./snapshot.ts";

export interface TaskAfterOptions extends SnapshotOptions {
  /** Seq of the event. */
  readonly after: number;
}

/** The task as it was after the event `after`. `undefined`: the events before or after it are not in the store any more. */
export async function taskAfter(
  store: Store,
  feed: Feed,
  { after, ...options }: TaskAfterOptions,
): Promise<StoredTask | undefined> {
  const { id } = feed.task;
  const record = await store.get(id, { artifacts: false, history: options.history, upTo: after });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  if (after + 1 < record.firstSeq) return undefined;
  const { createdAt } = record;
  return unlessDropped(
    Promise.all([
      assembledTask(store, { ...record, seq: after }, options),
      statusAfter(store, feed, { after, createdAt }),
    ]).then(([task, status]) => ({ ...task, ...status })),
  );
}

/** The last status in the log up to `after`; without one, `submitted`. */
async function statusAfter(
  store: Store,
  feed: Feed,
  { after, createdAt }: { readonly after: number; readonly createdAt: number },
): Promise<Pick<StoredTask, "state" | "status">> {
  // Usually a status is among the last 256 events; otherwise read the log from the start.
  for (const from of [Math.max(0, after - 256), 0]) {
    let found: string | undefined;
    for await (const { body } of readLog(store, feed.task.id, { after: from, upTo: after }))
      if (isStatusBody(body)) found = body;
    if (found !== undefined) {
      const event = readEvent(found);
      if (event.kind === "status") return { state: event.status.state, status: writeStatus(event.status) };
    }
  }
  return {
    state: "submitted",
    status: writeStatus({ state: "submitted", timestamp: new Date(createdAt).toISOString() }),
  };
}
