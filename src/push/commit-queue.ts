import type { Clock } from "../internal/clock.ts";
import { createDeferred, type Deferred } from "../internal/deferred.ts";
import { type Outcome, type Store, StoreError, type WebhookOperation } from "../store/contract.ts";

export interface CommitQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The outcome of a commit is unknown: no webhook may be notified any more. */
  readonly onFatal: (error: unknown) => void;
}

interface Waiting {
  readonly operation: WebhookOperation;
  readonly result: Deferred<Outcome>;
}

/** The most operations in one commit. */
const MAX_GROUP = 500;
/** The longest pause before a commit is retried, in milliseconds. */
const LONGEST_PAUSE = 2000;

/**
 * Commits webhook operations in groups: operations that arrive during one commit go into the next. If the store is busy or full, the
 * commit is retried until it succeeds, because a delivery that is not recorded would be repeated.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #queue: Waiting[] = [];
  #isCommitting = false;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** Resolves with the outcome of the operation. Rejects if the store cannot be written to any more. */
  submit(operation: WebhookOperation): Promise<Outcome> {
    if (this.#hasFailed) return Promise.reject(new StoreError("closed", "The commit queue has stopped."));
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
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MAX_GROUP);
      try {
        const outcomes = await this.#commit(group.map(({ operation }) => operation));
        for (const [index, { result }] of group.entries()) {
          const outcome = outcomes[index];
          if (outcome === undefined)
            throw new StoreError("unknown", "The store returned fewer outcomes than operations.");
          result.resolve(outcome);
        }
      } catch (error) {
        this.#fail(error, group);
        return;
      }
    }
    this.#isCommitting = false;
  }

  async #commit(operations: readonly WebhookOperation[]): Promise<readonly Outcome[]> {
    const { store, clock } = this.#options;
    for (let pause = 10; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await store.commit(operations);
      } catch (error) {
        const isTransient = error instanceof StoreError && (error.code === "busy" || error.code === "full");
        if (!isTransient || this.#isClosed) throw error;
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + pause, resolve, { unref: true });
        });
      }
    }
  }

  #fail(error: unknown, group: readonly Waiting[]): void {
    this.#hasFailed = true;
    for (const { result } of [...group, ...this.#queue.splice(0)]) result.reject(error);
    const isExpected = this.#isClosed || (error instanceof StoreError && error.code === "closed");
    if (!isExpected) this.#options.onFatal(error);
  }
}
