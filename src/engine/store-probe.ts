import { A2AError } from "../protocol/error.ts";
import type { Store } from "../store/contract.ts";

/** Minimum milliseconds between the starts of two probes. */
const PROBE_INTERVAL_MS = 1000;
/** Milliseconds after which an unanswered probe counts as failed. */
const PROBE_TIMEOUT_MS = 5000;

/** Checks whether the store accepts writes, at most once a second; calls in between get the result of the last probe. */
export class StoreProbe {
  readonly #store: Pick<Store, "health">;
  readonly #onSuccess: () => void;
  #result: Promise<void> | undefined;
  /** `performance.now()`: setting the system clock does not matter. */
  #startedAt = 0;
  #isPending = false;

  constructor(store: Pick<Store, "health">, onSuccess: () => void) {
    this.#store = store;
    this.#onSuccess = onSuccess;
  }

  /** Rejects with the error of the store, or with `unavailable` if the store has not answered for 5 seconds. */
  check(): Promise<void> {
    const age = performance.now() - this.#startedAt;
    if (this.#isPending && age > PROBE_TIMEOUT_MS) {
      return Promise.reject(new A2AError("unavailable", "The store did not answer within 5 s.", { retryAfter: 5 }));
    }
    if (this.#result === undefined || (!this.#isPending && age >= PROBE_INTERVAL_MS)) this.#result = this.#probe();
    return this.#result;
  }

  async #probe(): Promise<void> {
    this.#startedAt = performance.now();
    this.#isPending = true;
    try {
      await this.#store.health();
      this.#onSuccess();
    } finally {
      this.#isPending = false;
    }
  }
}
