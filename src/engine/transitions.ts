import { isoTime } from "../internal/iso-time.ts";
import type { TaskId } from "../protocol/ids.ts";
import { readEvent, type StoredTask } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { Store } from "../store/contract.ts";
import { isStatusBody } from "./log-view.ts";
import { readLog } from "./read-log.ts";

/** The member of a task's metadata that lists every state it has been in, oldest first. */
const TRANSITIONS_KEY = "stateTransitions";

interface Transition {
  readonly state: TaskState;
  readonly timestamp: string;
}

/** The task with the states it has been in up to the seq it reflects. */
export async function withTransitions(store: Store, key: TaskId, task: StoredTask): Promise<StoredTask> {
  const record = await store.get(key, { artifacts: false, history: 0 });
  if (record === undefined) return task;
  const transitions: Transition[] = [{ state: "submitted", timestamp: isoTime(record.createdAt) }];
  for await (const { body } of readLog(store, key, { after: 0, upTo: task.seq })) {
    const event = isStatusBody(body) ? readEvent(body) : undefined;
    if (event?.kind !== "status") continue;
    const { state, timestamp } = event.status;
    if (transitions.at(-1)?.state !== state) transitions.push({ state, timestamp });
  }
  const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
  const separator = rest === "}" ? "" : ",";
  return { ...task, metadata: `{"${TRANSITIONS_KEY}":${JSON.stringify(transitions)}${separator}${rest}` };
}
