import type { StoreRecord } from "./records.ts";

/** Bytes and records of one batch, approximately. */
const MAX_BYTES = 1024 * 1024;
const MAX_RECORDS = 2000;

/** Collects records into batches of bounded size. */
export class RecordBatch {
  #records: StoreRecord[] = [];
  #bytes = 0;

  /** `bytes`: the size of the record's texts. */
  add(record: StoreRecord, bytes: number): void {
    this.#records.push(record);
    this.#bytes += bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES || this.#records.length >= MAX_RECORDS;
  }

  /** The records so far; the next ones begin a new batch. */
  take(): readonly StoreRecord[] {
    const records = this.#records;
    this.#records = [];
    this.#bytes = 0;
    return records;
  }
}
