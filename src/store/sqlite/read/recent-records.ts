import type { TaskId } from "../../../protocol/ids.ts";
import { isTerminal } from "../../../protocol/state.ts";
import type { GetOptions, TaskRecord } from "../../contract.ts";

/** The most bytes of all records together, and of one record: a larger one would displace too many others. */
const MAX_BYTES = 8_000_000;
const MAX_RECORD_BYTES = 64_000;
/** Bytes of a record besides its texts: its objects, its ids and its place in the map. */
const BASE_BYTES = 1000;
/**
 * How many reads are remembered, to notice that a task is read again. A power of two, and fewer than the records that fit: if callers read more tasks
 * than that in turn, none would be kept long enough to be read again.
 */
const REMEMBERED_READS = 2048;

/**
 * Keeps the records of finished tasks that were read more than once, up to 8 MB: callers that poll read the same task again and again. A
 * finished task never changes, except that retention deletes it or drops its log; `clear` must be called then.
 */
export class RecentRecords {
  readonly #records = new Map<TaskId, TaskRecord>();
  /** A hash of the id of each remembered read, at a place that the hash chooses. */
  readonly #reads = new Int32Array(REMEMBERED_READS);
  /** The last of a sequence of pseudo-random numbers. */
  #random = 1;
  #bytes = 0;

  /** The kept record as these options request it. */
  get(id: TaskId, options: GetOptions): TaskRecord | undefined {
    const record = this.#records.get(id);
    if (record === undefined || !isServed(options)) return undefined;
    const { history: limit } = options;
    if (limit === undefined || limit >= record.history.length) return record;
    return { ...record, history: limit === 0 ? [] : record.history.slice(-limit) };
  }

  /** Keeps a record that was read with these options, if the task has ended and was read before. */
  add(record: TaskRecord, options: GetOptions): void {
    if (!isTerminal(record.head.state) || !isServed(options) || options.history !== undefined) return;
    // Without artifacts they are still being computed from the log.
    if (record.artifacts === undefined || record.largeHistory !== undefined || !this.#wasRead(record.id)) return;
    const bytes = bytesOf(record);
    if (bytes > MAX_RECORD_BYTES) return;
    this.#bytes += bytes;
    this.#records.set(record.id, record);
    for (const [id, oldest] of this.#records) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#records.delete(id);
      this.#bytes -= bytesOf(oldest);
    }
  }

  clear(): void {
    this.#records.clear();
    this.#bytes = 0;
  }

  /**
   * Remembers this read. True if the task was probably read before. If another task has its place, it takes the place at random: two tasks that
   * are read in turn would otherwise displace each other for ever.
   */
  #wasRead(id: TaskId): boolean {
    const hash = hashOf(id);
    const place = hash & (REMEMBERED_READS - 1);
    if (this.#reads[place] === hash) {
      this.#reads[place] = 0;
      return true;
    }
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) | 0;
    if (this.#reads[place] === 0 || this.#random < 0) this.#reads[place] = hash;
    return false;
  }
}

/** Whether a read with these options can use a kept record: it wants the whole task as it is now. */
function isServed({ artifacts, upTo, largeBytes = MAX_RECORD_BYTES }: GetOptions): boolean {
  return artifacts && upTo === undefined && largeBytes >= MAX_RECORD_BYTES;
}

/** At least as many bytes as the record occupies in memory: a character has one or two. */
function bytesOf({ head, history, artifacts = "" }: TaskRecord): number {
  let characters = head.status.length + head.runner.length + (head.metadata?.length ?? 0) + artifacts.length;
  for (const { body } of history) characters += body.length;
  return BASE_BYTES + 2 * characters;
}

/** FNV-1a of the last characters, which are random in the ids that the server creates. Never 0. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = Math.max(0, id.length - 12); index < id.length; index += 1)
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return hash === 0 ? 1 : hash | 0;
}
