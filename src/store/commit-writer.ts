import type { Clock } from "../internal/clock.ts";
import { type CommitKey, type Outcome, type Store, StoreError, type StoreOperation } from "./contract.ts";

export interface CommitWriterOptions {
  readonly store: Pick<Store, "commit">;
  readonly clock: Clock;
  /** Name of the writer among everything that commits to the store: see {@link CommitKey}. A new process needs a new name, because it counts from 1. */
  readonly name: string;
}

/** Milliseconds before the first retry. Each further pause is twice as long. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 500;

/**
 * Commits with keys and retries. All commits of a process that are repeated after a failure go through a writer: the engine's committer has two,
 * webhook delivery has one. A writer has one commit under way at a time, and numbers them, so that the store recognises a repetition and
 * refuses a commit that arrives late.
 */
export class CommitWriter {
  readonly #options: CommitWriterOptions;
  /** Number of the last commit. */
  #number = 0;
  #isBusy = false;
  #isClosed = false;

  constructor(options: CommitWriterOptions) {
    this.#options = options;
  }

  /** A commit is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /**
   * Commits, and repeats the commit for `retryFor` milliseconds while the store is busy or full, or its answer is lost. Rejects with the last
   * error; with the first `lost` if an answer was lost, because then the store may have applied the commit, whatever it says of the later
   * tries. Rejects with `unknown` if the number of outcomes is wrong, and with an `Error` while another commit is under way.
   */
  async commit(
    operations: readonly StoreOperation[],
    retryFor: number = Number.POSITIVE_INFINITY,
  ): Promise<readonly Outcome[]> {
    if (this.#isBusy) throw new Error("A commit writer commits one group of operations at a time.");
    const { clock, name } = this.#options;
    const retryUntil = clock.now() + retryFor;
    this.#isBusy = true;
    this.#number += 1;
    const key: CommitKey = { writer: name, n: this.#number };
    let lost: unknown;
    try {
      for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
        try {
          return await this.#commitOnce(operations, key);
        } catch (error) {
          if (!isTransient(error)) throw error;
          if (error.code === "lost") lost ??= error;
          if (this.#isClosed || clock.now() + pause > retryUntil) throw lost ?? error;
          await new Promise<void>((resolve) => clock.setTimer(clock.now() + pause, resolve));
        }
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** From now on, a failed commit is not retried. */
  close(): void {
    this.#isClosed = true;
  }

  async #commitOnce(operations: readonly StoreOperation[], key: CommitKey): Promise<readonly Outcome[]> {
    const outcomes = await this.#options.store.commit(operations, key);
    if (outcomes.length === operations.length) return outcomes;
    throw new StoreError("unknown", "The store returned fewer or more outcomes than operations.");
  }
}

/** Nothing was written, or it is not known; a repetition of the commit may succeed. */
export function isTransient(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === "busy" || error.code === "full" || error.code === "lost");
}
