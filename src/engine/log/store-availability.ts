import type { Clock } from "../../internal/clock.ts";
import type { Logger } from "../../internal/logger.ts";

/** Milliseconds between two log lines about refusals. */
const LOG_EVERY = 60_000;

/**
 * Counts what was refused because the store was unavailable, and logs it: the first refusal, then at most one line a minute with the number
 * since the last line, and one line when the store takes writes again.
 */
export class StoreAvailability {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #refusals = 0;
  /** How many of them the log has not mentioned. */
  #unlogged = 0;
  #loggedAt: number | undefined;
  /** Refusals were logged and the recovery was not. */
  #isAnnounced = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Writes and reads refused so far. */
  get refusals(): number {
    return this.#refusals;
  }

  /** The store did not take so many writes, or did not answer so many reads, within the time they are retried. */
  refused(error: unknown, count: number): void {
    this.#refusals += count;
    this.#unlogged += count;
    const now = this.#clock.now();
    // A clock that was set back must not silence it.
    const isRecent = this.#loggedAt !== undefined && now >= this.#loggedAt && now - this.#loggedAt < LOG_EVERY;
    if (isRecent) return;
    this.#logger.error("The store is unavailable; requests are refused", { error, refused: this.#unlogged });
    this.#unlogged = 0;
    this.#loggedAt = now;
    this.#isAnnounced = true;
  }

  /** The store took a write. */
  works(): void {
    if (!this.#isAnnounced) return;
    this.#isAnnounced = false;
    this.#logger.info("The store is available again", { refused: this.#unlogged });
    this.#unlogged = 0;
  }
}
