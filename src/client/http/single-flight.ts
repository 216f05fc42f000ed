import { createDeferred } from "../../internal/deferred.ts";

/** Work that several callers wait for. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly control: AbortController;
  waiting: number;
}

/**
 * Shares one piece of work among concurrent callers with the same key. Each caller may stop waiting by its own signal; the work is aborted when no
 * caller waits any more.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** `work` runs only if no work with this key is under way. Its signal is its own, not that of the first caller. */
  async run(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    flight.waiting += 1;
    const left = createDeferred<never>();
    const leave = (): void => left.reject(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([flight.result, left.promise]);
    } finally {
      signal?.removeEventListener("abort", leave);
      flight.waiting -= 1;
      if (flight.waiting === 0) this.#end(key, flight);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const control = new AbortController();
    const result = work(control.signal);
    const flight: Flight<T> = { result, control, waiting: 0 };
    this.#flights.set(key, flight);
    const settled = (): void => this.#forget(key, flight);
    // Callers get the rejection. Handling it here too avoids an unhandled rejection if no caller waits.
    result.then(settled, settled);
    return flight;
  }

  #end(key: string, flight: Flight<T>): void {
    this.#forget(key, flight);
    flight.control.abort();
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
