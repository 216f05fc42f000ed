import type { InboxEntry } from "../../store/contract.ts";

/** The inbox of one task, as its writer knows it: the entries that wait, and the ids of those that were consumed. */
export class TaskInbox {
  /** Entries that wait to be consumed, oldest first. */
  readonly entries: InboxEntry[] = [];
  /** By entry id: the seq of the last event before the entry was consumed. */
  #consumed: Map<string, number> | undefined;

  /** `consumed`: entries that were consumed before this writer existed. The inbox adds to this map. */
  constructor(consumed: Map<string, number> | undefined) {
    this.#consumed = consumed;
  }

  /** Adds an entry that was read from the store. False: the entry waits already. */
  add(entry: InboxEntry): boolean {
    if (this.entries.some((known) => known.id === entry.id)) return false;
    this.entries.push(entry);
    return true;
  }

  /** The entry waits here, or was consumed. */
  has(id: string): boolean {
    return this.#consumed?.has(id) === true || this.entries.some((known) => known.id === id);
  }

  /** Removes an entry because the run consumed it after the event `seq`. */
  consume(entry: InboxEntry, seq: number): void {
    const index = this.entries.indexOf(entry);
    if (index !== -1) this.entries.splice(index, 1);
    this.#consumed ??= new Map();
    this.#consumed.set(entry.id, seq);
  }

  /** The seq of the last event before the entry was consumed; `undefined`: it was not. */
  consumedAfter(id: string): number | undefined {
    return this.#consumed?.get(id);
  }
}
