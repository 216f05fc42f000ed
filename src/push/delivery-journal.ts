import { type JournalEntry, journalRecord } from "../engine/record/journal.ts";
import type { JournalRecord } from "../store/contract.ts";

export interface DeliveryJournalOptions {
  /** Id of the webhook. */
  readonly webhook: string;
  /** The id of this process. */
  readonly node: string;
  readonly now: () => number;
}

/**
 * Records the deliveries to one webhook in the journal of its task. Deliveries that succeed one after the other are one entry that grows, so
 * that a stream of ten thousand chunks does not leave ten thousand entries. A failed delivery has an entry of its own, which ends when the
 * event is delivered, or the delivery is abandoned.
 */
export class DeliveryJournal {
  readonly #options: DeliveryJournalOptions;
  #entry: JournalEntry | undefined;
  /** The notification that is being sent: its first event, and when it was sent. */
  #sent = { seq: 0, at: 0 };

  constructor(options: DeliveryJournalOptions) {
    this.#options = options;
  }

  /** A notification that begins with the event `seq` is sent. */
  began(seq: number): void {
    this.#sent = { seq, at: this.#options.now() };
  }

  /** The notification was accepted. */
  delivered(upTo: number): JournalRecord {
    const hadFailed = this.#entry?.reason !== undefined;
    const record = this.#change({ upTo, outcome: "delivered" });
    // Later deliveries must not hide how often this one failed.
    if (hadFailed) this.#entry = undefined;
    return record;
  }

  /** The notification was not accepted. `outcome`: `retrying`, or why the delivery is abandoned. */
  failed(outcome: string, reason: string): JournalRecord {
    if (this.#entry?.outcome === "delivered") this.#entry = undefined;
    return this.#change({ outcome, reason });
  }

  #change(change: Partial<JournalEntry>): JournalRecord {
    const { webhook, node, now } = this.#options;
    const { seq, at } = this.#sent;
    const entry = this.#entry ?? { kind: "delivery", key: `${webhook}:${seq}`, node, start: at };
    this.#entry = { ...entry, ...change, count: (entry.count ?? 0) + 1, end: now() };
    return journalRecord(this.#entry);
  }
}
