import type { Clock, Timer } from "../../internal/clock.ts";

/** A run that only waits. */
export interface IdleRun {
  /** When the first of its waits ends by itself; `Infinity`: all of them wait for a message. */
  readonly wakesAt: number;
  /** Parks the run, unless something has arrived for it. */
  park(): void;
}

/** Milliseconds that a run waits at least before it is parked. Callers that answer faster do not start it again. */
const LEAST_WAIT = 1000;
/** A run that continues by itself within this many milliseconds is not parked: it would soon be started again. */
const SOON = 30_000;

/**
 * The waiting runs of this process. A run is parked after `parkAfter`, because its answer may come soon. If more than `most` runs wait, those that have
 * waited longest are parked earlier, so that a hundred thousand waiting tasks need no more memory than `most` of them (ADR 0090).
 */
export class IdleRuns {
  readonly #clock: Clock;
  readonly #most: number;
  /** When each began to wait, in this order. */
  readonly #since = new Map<IdleRun, number>();
  #check: Timer | undefined;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  add(run: IdleRun): void {
    this.#since.delete(run);
    this.#since.set(run, this.#clock.now());
    this.#checkLater();
  }

  delete(run: IdleRun): void {
    this.#since.delete(run);
  }

  #checkLater(): void {
    if (this.#since.size <= this.#most) return;
    if (this.#check !== undefined) return;
    this.#check = this.#clock.setTimer(this.#clock.now() + LEAST_WAIT, () => this.#parkExcess(), { unref: true });
  }

  #parkExcess(): void {
    this.#check = undefined;
    const now = this.#clock.now();
    let excess = this.#since.size - this.#most;
    for (const [run, since] of this.#since) {
      if (excess <= 0 || since + LEAST_WAIT > now) break;
      if (run.wakesAt < now + SOON) continue;
      run.park();
      excess -= 1;
    }
    this.#checkLater();
  }
}
