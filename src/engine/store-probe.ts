import { A2AError } from "../protocol/error.ts";
import type { Store } from "../store/contract.ts";

/** Milliseconds between the beginnings of two probes, however often somebody asks. */
const PROBE_EVERY = 1000;
/** Milliseconds after which a probe that has not been answered counts as failed. */
const TOO_LONG = 5000;

/** Finds out whether the store takes writes, at most once a second: whoever asks meanwhile gets the result of the last probe. */
export class StoreProbe {
  readonly #store: Pick<Store, "health">;
  readonly #onSuccess: () => void;
  #result: Promise<void> | undefined;
  /** By the clock that nobody can set. */
  #begunAt = 0;
  #isUnderWay = false;

  constructor(store: Pick<Store, "health">, onSuccess: () => void) {
    this.#store = store;
    this.#onSuccess = onSuccess;
  }

  /** Rejects with what the store rejected with, or with `unavailable` where it does not answer. */
  check(): Promise<void> {
    const age = performance.now() - this.#begunAt;
    if (this.#isUnderWay && age > TOO_LONG) {
      return Promise.reject(new A2AError("unavailable", "The store does not answer.", { retryAfter: 5 }));
    }
    if (this.#result === undefined || (!this.#isUnderWay && age >= PROBE_EVERY)) this.#result = this.#probe();
    return this.#result;
  }

  async #probe(): Promise<void> {
    this.#begunAt = performance.now();
    this.#isUnderWay = true;
    try {
      await this.#store.health();
      this.#onSuccess();
    } finally {
      this.#isUnderWay = false;
    }
  }
}
