import type { Clock } from "../internal/clock.ts";
import { createDeferred, type Deferred } from "../internal/deferred.ts";
import { CommitWriter } from "../store/commit-writer.ts";
import { type Outcome, type Store, StoreError, type WebhookOperation } from "../store/contract.ts";

/** Where operations are committed, and what happens if that fails for good. */
export interface DeliveryCommitsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Name of the {@link CommitWriter}. */
  readonly writer: string;
  /** The outcome of a commit is unknown: no webhook may be notified any more. */
  readonly onFatal: (error: unknown) => void;
}

interface Waiting {
  readonly operation: WebhookOperation;
  readonly result: Deferred<Outcome>;
}

/** The most operations in one commit. */
const MAX_GROUP = 500;

/**
 * Commits the claims and the progress of webhooks in groups: operations that arrive during one commit go into the next. Unlike the engine's
 * committer it never gives a commit up while the store is unavailable, because a delivery that is not recorded would be repeated.
 */
export class DeliveryCommits {
  readonly #options: DeliveryCommitsOptions;
  readonly #writer: CommitWriter;
  #queue: Waiting[] = [];
  #isCommitting = false;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: DeliveryCommitsOptions) {
    this.#options = options;
    const { store, clock, writer } = options;
    this.#writer = new CommitWriter({ store, clock, name: writer });
  }

  /** Resolves with the outcome of the operation. Rejects if the store cannot be written to any more. */
  submit(operation: WebhookOperation): Promise<Outcome> {
    if (this.#hasFailed) return Promise.reject(new StoreError("closed", "Deliveries cannot be recorded any more."));
    const result = createDeferred<Outcome>({ handled: true });
    this.#queue.push({ operation, result });
    if (!this.#isCommitting) {
      this.#isCommitting = true;
      setImmediate(() => void this.#run());
    }
    return result.promise;
  }

  /** From now on, a failed commit is not retried. */
  close(): void {
    this.#isClosed = true;
    this.#writer.close();
  }

  /** Stops for good after a failure that is not transient. */
  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MAX_GROUP);
      try {
        const outcomes = await this.#writer.commit(group.map(({ operation }) => operation));
        for (const [index, { result }] of group.entries()) {
          const outcome = outcomes[index];
          if (outcome !== undefined) result.resolve(outcome);
        }
      } catch (error) {
        this.#fail(error, group);
        return;
      }
    }
    this.#isCommitting = false;
  }

  /** Also rejects what still waits: without a store nothing may be delivered. */
  #fail(error: unknown, group: readonly Waiting[]): void {
    this.#hasFailed = true;
    for (const { result } of [...group, ...this.#queue.splice(0)]) result.reject(error);
    const isExpected = this.#isClosed || (error instanceof StoreError && error.code === "closed");
    if (!isExpected) this.#options.onFatal(error);
  }
}
