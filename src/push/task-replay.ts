import { isStatusBody } from "../engine/read/log-view.ts";
import { LogDropped, readLog } from "../engine/read/read-log.ts";
import { recordedTask } from "../engine/read/snapshot.ts";
import { ArtifactFold } from "../protocol/fold.ts";
import type { TaskId } from "../protocol/ids.ts";
import { readEvent, type StoredTask, writeStatus } from "../protocol/serial.ts";
import type { LogEntry, Store } from "../store/contract.ts";

/** The most bytes of chunks kept between two calls, since they stay in memory while a request is on its way. */
const KEPT_BYTES = 64 * 1024;

/**
 * Rebuilds a task as it was after one event of its log after another. Small tasks are kept between two calls, so that each of thousands of
 * events does not read the whole log again.
 */
export class TaskReplay {
  readonly #store: Store;
  readonly #id: TaskId;
  #fold = new ArtifactFold();
  #status: string | undefined;
  #seq = 0;
  #bytes = 0;
  #isLarge = false;

  constructor(store: Store, id: TaskId) {
    this.#store = store;
    this.#id = id;
  }

  /** Takes an entry that was read for another purpose. Ignored unless it is the next one. */
  pass(entry: LogEntry): void {
    if (this.#isLarge || entry.seq !== this.#seq + 1) return;
    this.#add(entry);
    if (this.#bytes > KEPT_BYTES) this.#forget();
  }

  /** The task as it was after `seq`; as it is now if the log is trimmed. `undefined`: the task was deleted. */
  async at(seq: number): Promise<StoredTask | undefined> {
    const record = await this.#store.get(this.#id, { artifacts: true, upTo: seq });
    if (record === undefined) return undefined;
    const isPresent = record.seq === seq;
    if (isPresent && record.artifacts !== undefined) return recordedTask(this.#store, record, { artifacts: true });
    if (record.firstSeq > 1) return currentTask(this.#store, this.#id);
    if (seq < this.#seq) this.#forget();
    try {
      for await (const entry of readLog(this.#store, this.#id, { after: this.#seq, upTo: seq })) this.#add(entry);
    } catch (error) {
      if (!(error instanceof LogDropped)) throw error;
      this.#forget();
      return currentTask(this.#store, this.#id);
    }
    const task = await recordedTask(this.#store, record, { artifacts: false });
    if (task === undefined) return undefined;
    const artifacts = JSON.stringify(this.#fold.artifacts());
    const event = isPresent || this.#status === undefined ? undefined : readEvent(this.#status);
    if (this.#isLarge || this.#bytes > KEPT_BYTES) this.#forget();
    return {
      ...task,
      seq,
      artifacts,
      ...(event?.kind === "status" && { state: event.status.state, status: writeStatus(event.status) }),
    };
  }

  #add({ seq, body }: LogEntry): void {
    this.#seq = seq;
    if (isStatusBody(body)) {
      this.#status = body;
      return;
    }
    this.#bytes += body.length;
    this.#fold.add(readEvent(body));
  }

  /** A task that was too large once is read again for each notification. */
  #forget(): void {
    this.#isLarge = this.#bytes > KEPT_BYTES;
    this.#fold = new ArtifactFold();
    this.#status = undefined;
    this.#seq = 0;
    this.#bytes = 0;
  }
}

/** The task as it is now; `undefined` if it was deleted. */
export async function currentTask(store: Store, id: TaskId): Promise<StoredTask | undefined> {
  const record = await store.get(id, { artifacts: true });
  return record === undefined ? undefined : recordedTask(store, record, { artifacts: true });
}
