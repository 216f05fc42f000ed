/** Milliseconds between the beginnings of two commits, under load, if the second one has chunks alone. */
const CHUNK_INTERVAL = 10;
/** The load is measured in periods of this many milliseconds. */
const PERIOD = 100;
/** Writes of chunks per millisecond from which the server is under load: a hundred streams of twenty chunks per second. */
const LOAD = 2;

/**
 * Decides how long chunks wait for others before they are committed. A commit costs the same for one chunk and for a hundred, so under load
 * fewer commits leave more processor time for streams; with few streams nothing waits (ADR 0086).
 */
export class CommitPace {
  readonly #now: () => number;
  #isUnderLoad = false;
  /** The store answers in a later turn of the event loop. A store in memory gains nothing from larger commits. */
  #isStoreSlow = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #periodAt = Number.NEGATIVE_INFINITY;
  #writes = 0;

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A task has chunks to commit. */
  chunksWritten(): void {
    this.#writes++;
  }

  /** A commit begins. */
  started(): void {
    const now = this.#now();
    this.#startedAt = now;
    const elapsed = now - this.#periodAt;
    if (elapsed < PERIOD) return;
    this.#isUnderLoad = this.#writes / elapsed >= LOAD;
    this.#periodAt = now;
    this.#writes = 0;
  }

  finished(isStoreSlow: boolean): void {
    this.#isStoreSlow = isStoreSlow;
  }

  /** Milliseconds until a commit of chunks alone should begin; 0: now. */
  get wait(): number {
    if (!this.#isUnderLoad || !this.#isStoreSlow) return 0;
    const left = this.#startedAt + CHUNK_INTERVAL - this.#now();
    // Timers have a resolution of one millisecond.
    return left < 1 ? 0 : left;
  }
}
