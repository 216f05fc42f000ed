import { isStatusBody } from "../engine/log-view.ts";
import { readLog } from "../engine/read-log.ts";
import { recordedTask } from "../engine/snapshot.ts";
import { ArtifactFold } from "../protocol/fold.ts";
import type { TaskId } from "../protocol/ids.ts";
import { readEvent, type StoredTask, writeStatus } from "../protocol/serial.ts";
import type { TaskStatus } from "../protocol/task.ts";
import type { Store } from "../store/contract.ts";

/**
 * A task as it stood when its log ended at `seq`; as it is now where the log does not go back that far. `undefined`: it is no longer there.
 * Reads the log once, unless the present task is asked for and its artifacts are kept.
 */
export async function taskAt(store: Store, id: TaskId, seq: number): Promise<StoredTask | undefined> {
  const record = await store.get(id, { artifacts: true, upTo: seq });
  if (record === undefined) return undefined;
  if (record.seq === seq) return recordedTask(store, record, { artifacts: true });
  if (record.firstSeq > 1) return currentTask(store, id);
  const fold = new ArtifactFold();
  let status: TaskStatus | undefined;
  for await (const { body } of readLog(store, id, { after: 0, upTo: seq })) {
    const event = isStatusBody(body) ? readEvent(body) : undefined;
    if (event === undefined) fold.add(readEvent(body));
    else if (event.kind === "status") status = event.status;
  }
  const task = await recordedTask(store, record, { artifacts: false });
  return {
    ...task,
    seq,
    artifacts: JSON.stringify(fold.artifacts()),
    ...(status !== undefined && { state: status.state, status: writeStatus(status) }),
  };
}

/** A task as it is now. */
export async function currentTask(store: Store, id: TaskId): Promise<StoredTask | undefined> {
  const record = await store.get(id, { artifacts: true });
  return record === undefined ? undefined : recordedTask(store, record, { artifacts: true });
}
