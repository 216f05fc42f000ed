import type { Clock } from "../../internal/clock.ts";
import type { Logger } from "../../internal/logger.ts";

/** Minimum time between two log lines about refusals, in milliseconds. */
const LOG_INTERVAL = 60_000;

/**
 * Counts the reads and writes that were refused because the store was unavailable, and logs them: the first refusal, then at most one line
 * per minute with the number since the last line, and one line when the store is available again.
 */
export class StoreAvailability {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #refusals = 0;
  /** Refusals since the last log line. */
  #unlogged = 0;
  #loggedAt: number | undefined;
  /** The last log line reported refusals, not the recovery. */
  #isAnnounced = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Total of refused reads and writes. */
  get refusals(): number {
    return this.#refusals;
  }

  /** `count` reads or writes failed until their retries ended. */
  refused(error: unknown, count: number): void {
    this.#refusals += count;
    this.#unlogged += count;
    const now = this.#clock.now();
    // If the clock was set back, log again.
    const isRecent = this.#loggedAt !== undefined && now >= this.#loggedAt && now - this.#loggedAt < LOG_INTERVAL;
    if (isRecent) return;
    this.#logger.error("The store is unavailable; requests are refused", { error, refused: this.#unlogged });
    this.#unlogged = 0;
    this.#loggedAt = now;
    this.#isAnnounced = true;
  }

  /** The store works: a commit or a probe succeeded. */
  works(): void {
    if (!this.#isAnnounced) return;
    this.#isAnnounced = false;
    this.#logger.info("The store is available again", { refused: this.#unlogged });
    this.#unlogged = 0;
  }
}
