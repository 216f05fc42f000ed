import type { Clock, Timer } from "../../internal/clock.ts";
import type { RunnerRecord } from "../record/runner-record.ts";

export interface RunTimersOptions {
  readonly clock: Clock;
  readonly runner: () => RunnerRecord;
  /** The agent's timeout has passed, and the run does not wait. */
  readonly onDeadline: () => void;
  /** The caller's limit (`timeoutMs`) has passed. */
  readonly onLimit: () => void;
}

/** The timers of a run: its deadline, the caller's limit, and the grace after it was asked to stop. */
export class RunTimers {
  readonly #options: RunTimersOptions;
  #deadline: Timer | undefined;
  #limit: Timer | undefined;
  #grace: Timer | undefined;
  #isStopped = false;

  constructor(options: RunTimersOptions) {
    this.#options = options;
  }

  /** Starts the timer of the deadline, unless it is started or the run waits. */
  watchDeadline(): void {
    if (this.#deadline === undefined && this.#options.runner().pausedAt === undefined) this.restartDeadline();
  }

  /** The deadline has moved. */
  restartDeadline(): void {
    const { clock, runner, onDeadline } = this.#options;
    const { deadline } = runner();
    this.#deadline?.cancel();
    if (deadline === undefined || this.#isStopped) return;
    // A wait does not count. When it ends, `Waits` moves the deadline and the timer is started again.
    const reached = (): void => {
      if (runner().pausedAt === undefined) onDeadline();
    };
    this.#deadline = clock.setTimer(deadline, reached, { unref: true });
  }

  /** Starts the timer of the caller's limit, which applies to queued, running, sleeping and waiting tasks. */
  watchLimit(): void {
    const { clock, runner, onLimit } = this.#options;
    const { limitAt } = runner();
    if (limitAt === undefined || this.#limit !== undefined || this.#isStopped) return;
    this.#limit = clock.setTimer(limitAt, onLimit, { unref: true });
  }

  startGrace(milliseconds: number, onOver: () => void): void {
    const { clock } = this.#options;
    this.#grace = clock.setTimer(clock.now() + milliseconds, onOver, { unref: true });
  }

  /** No timer fires any more, and none can be started. */
  stop(): void {
    this.#isStopped = true;
    this.#deadline?.cancel();
    this.#limit?.cancel();
    this.#grace?.cancel();
  }
}
