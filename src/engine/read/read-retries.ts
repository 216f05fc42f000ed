import type { Clock } from "../../internal/clock.ts";
import { A2AError } from "../../protocol/error.ts";
import { type Store, StoreError } from "../../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../../store/store-wrapper.ts";

export interface ReadRetriesOptions {
  readonly clock: Clock;
  /** Milliseconds for which a read is retried while the store is busy. */
  readonly retryFor: number;
  /** A read failed until its retries ended. */
  readonly onRefused: (error: StoreError) => void;
}

/** Pauses between retries, in milliseconds. Each pause is twice as long as the last. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 500;

/** Not retried here: the committer retries commits, the poll loop and the sweeper call the others again, and other reads replace `claimed`. */
const NOT_RETRIED: ReadonlySet<StoreMethod> = new Set([
  ...(["commit", "claimDue", "claimWebhooks", "claimed", "waitingEntries", "claimsOf"] as const),
  ...(["heartbeat", "leave", "sweep", "health"] as const),
]);

/**
 * A store that retries reads while the store behind it is busy, so that a task does not fail because of one read. After `retryFor` a read rejects
 * with an `A2AError` (`unavailable`).
 */
export class ReadRetries extends StoreWrapper {
  readonly #options: ReadRetriesOptions;

  constructor(store: Store, options: ReadRetriesOptions) {
    super(store);
    this.#options = options;
  }

  protected override around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
    return NOT_RETRIED.has(method) ? call() : call().catch((error: unknown) => this.#retry(error, call));
  }

  async #retry<T>(failure: unknown, read: () => Promise<T>): Promise<T> {
    const { clock, retryFor, onRefused } = this.#options;
    let error = failure;
    let waited = 0;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      if (!(error instanceof StoreError) || !isTransient(error)) throw error;
      waited += pause;
      if (waited > retryFor) {
        onRefused(error);
        throw new A2AError("unavailable", "The store is unavailable; try again in 5 s.", {
          cause: error,
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => clock.setTimer(clock.now() + pause, resolve));
      try {
        return await read();
      } catch (next) {
        error = next;
      }
    }
  }
}

/** A read may succeed when it is repeated. */
function isTransient({ code }: StoreError): boolean {
  return code === "busy" || code === "lost";
}

/** The error of the store, if `thrown` is the error of a read whose retries ended. */
export function readFailure(thrown: unknown): StoreError | undefined {
  return thrown instanceof A2AError && thrown.cause instanceof StoreError ? thrown.cause : undefined;
}
