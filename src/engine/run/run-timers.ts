import type { Clock, Timer } from "../../internal/clock.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";

/** The run whose time is limited. */
export interface TimedRun {
  readonly clock: Clock;
  readonly writer: Pick<TaskLogWriter, "runner">;
  /** The agent's timeout has passed, and the run does not wait. */
  deadlineReached(): void;
  /** The caller's limit (`timeoutMs`) has passed. */
  limitReached(): void;
}

/** The timers of a run: its deadline, the caller's limit, and the grace after it was asked to stop. */
export class RunTimers {
  readonly #run: TimedRun;
  #deadline: Timer | undefined;
  #limit: Timer | undefined;
  #grace: Timer | undefined;
  #isStopped = false;

  constructor(run: TimedRun) {
    this.#run = run;
  }

  /** Starts the timer of the deadline, unless it is started or the run waits. */
  watchDeadline(): void {
    if (this.#deadline === undefined && this.#run.writer.runner.pausedAt === undefined) this.restartDeadline();
  }

  /** The deadline has moved. */
  restartDeadline(): void {
    const { clock, writer } = this.#run;
    const { deadline } = writer.runner;
    this.pauseDeadline();
    if (deadline === undefined || this.#isStopped) return;
    const reached = (): void => {
      // A wait does not count.
      if (this.#run.writer.runner.pausedAt === undefined) this.#run.deadlineReached();
    };
    this.#deadline = clock.setTimer(deadline, reached, { unref: true });
  }

  /** The run waits. When the wait ends, the deadline is moved and the timer is started again. */
  pauseDeadline(): void {
    this.#deadline?.cancel();
    this.#deadline = undefined;
  }

  /** Starts the timer of the caller's limit, which applies to queued, running, sleeping and waiting tasks. */
  watchLimit(): void {
    const { clock, writer } = this.#run;
    const { limitAt } = writer.runner;
    if (limitAt === undefined || this.#limit !== undefined || this.#isStopped) return;
    this.#limit = clock.setTimer(limitAt, () => this.#run.limitReached(), { unref: true });
  }

  startGrace(milliseconds: number, onOver: () => void): void {
    const { clock } = this.#run;
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
