import type { Clock } from "../internal/clock.ts";
import { createDeferred, type Deferred } from "../internal/deferred.ts";
import { type Outcome, type Store, StoreError, type WebhookOperation } from "../store/contract.ts";

export interface CommitQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** What was committed cannot be known: nothing may be told any more. */
  readonly onFatal: (error: unknown) => void;
}

interface Waiting {
  readonly operation: WebhookOperation;
  readonly result: Deferred<Outcome>;
}

/** So many at most go into one commit. */
const MAX_GROUP = 500;
const LONGEST_PAUSE = 2000;

/**
 * Commits what is known of webhooks: everything that gathers while one commit is under way goes into the next. A store that is busy
 * or full is tried again for as long as it takes, since a delivery that is not noted would be repeated.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #queue: Waiting[] = [];
  #isCommitting = false;
  #isDead = false;
  #isClosed = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** Rejects when the store cannot be written to any more. */
  submit(operation: WebhookOperation): Promise<Outcome> {
    if (this.#isDead) return Promise.reject(new StoreError("closed", "Nothing is committed any more."));
    const result = createDeferred<Outcome>({ handled: true });
    this.#queue.push({ operation, result });
    if (!this.#isCommitting) {
      this.#isCommitting = true;
      setImmediate(() => void this.#run());
    }
    return result.promise;
  }

  /** Nothing that fails is tried again from now on. */
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
          if (outcome === undefined) throw new StoreError("unknown", "The store did not answer for every operation.");
          result.resolve(outcome);
        }
      } catch (error) {
        this.#die(error, group);
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
        const isPassing = error instanceof StoreError && (error.code === "busy" || error.code === "full");
        if (!isPassing || this.#isClosed) throw error;
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + pause, resolve, { unref: true });
        });
      }
    }
  }

  #die(error: unknown, group: readonly Waiting[]): void {
    this.#isDead = true;
    for (const { result } of [...group, ...this.#queue.splice(0)]) result.reject(error);
    const isExpected = this.#isClosed || (error instanceof StoreError && error.code === "closed");
    if (!isExpected) this.#options.onFatal(error);
  }
}
