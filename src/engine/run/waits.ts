import type { Clock, Timer } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { TaskAborted } from "../agent/agent.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { IdleRun, IdleRuns } from "./idle-runs.ts";

/** The result of a wait that ended without what it waited for: the time was up, or its signal was aborted. */
export const TIMED_OUT: unique symbol = Symbol("timed out");

export interface WaitOptions<T> {
  /** Returns what the wait is for, or `undefined` if it is not there yet. Called at once, and when something arrives in the inbox. */
  readonly poll: () => T | undefined;
  /** When to stop waiting; milliseconds since 1970, by the clock of the store. Absent: never. */
  readonly until?: number | undefined;
  /** Stops the wait when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The time of the wait does not count towards the task's deadline, and no node need be running the task meanwhile. */
  readonly pauses: boolean;
  /**
   * The run may be parked: removed from memory, and started again when something arrives. A wait that `pauses` but does not park waits for
   * something in this process, so the run must stay.
   */
  readonly parks: boolean;
}

interface Waiter {
  readonly options: WaitOptions<unknown>;
  readonly result: Deferred<unknown>;
  readonly since: number;
  timer: Timer | undefined;
  onAbort: (() => void) | undefined;
}

/** The run that waits. */
export interface WaitingRun {
  readonly writer: TaskLogWriter;
  readonly clock: Clock;
  /** Milliseconds after which a waiting run is parked; `Infinity`: never. */
  readonly parkAfter: number;
  /** All runs of this process that only wait. */
  readonly idleRuns: IdleRuns;
  /** A node must be running the task even while it waits, because its agent cannot be started again (`onRestart: "fail"`). */
  readonly staysActive: boolean;
  /** Why the run must stop; `undefined` if it need not. */
  readonly abortReason: Error | undefined;
  park(): void;
  /** A wait begins: the deadline does not count down meanwhile. */
  paused(): void;
  /** The last wait is over, and the deadline was moved. */
  continued(): void;
}

/** All waits of a run: for answers, for messages, for a time. It parks the run when all it does is wait. */
export class Waits implements IdleRun {
  readonly #run: WaitingRun;
  /** Oldest first. A list, because most runs have one. */
  readonly #waiters: Waiter[] = [];
  #parkTimer: Timer | undefined;
  /** Number of steps that are running. While there are any, the run is not parked. */
  busy = 0;
  /** Number of calls of `pause` whose `wait` has not begun yet. */
  #announced = 0;
  /** One of the waits needs this process, so a node must be running the task. */
  #isActive = false;

  constructor(run: WaitingRun) {
    this.#run = run;
  }

  /**
   * Stores, with the next commit, that the task waits and until when. Call it before `wait`, in the same commit as the question or the sleep.
   * `active`: the run also waits for something in this process, so a node must be running the task.
   */
  pause(until: number | undefined, { active = false }: { readonly active?: boolean } = {}): void {
    const { writer, clock, staysActive } = this.#run;
    const pausedAt = writer.runner.pausedAt ?? clock.now();
    this.#announced += 1;
    this.#isActive ||= active;
    const times = [until, writer.wakeAt, writer.runner.limitAt].filter((time) => time !== undefined);
    writer.updateHead({
      runner: { pausedAt },
      active: staysActive || this.#isActive,
      wakeAt: times.length > 0 ? Math.min(...times) : undefined,
    });
    this.#run.paused();
  }

  /** The run continues: moves the deadline by the time that the wait took. */
  resume(): void {
    const { writer, clock } = this.#run;
    if (this.#announced > 0 || this.#waiters.some((waiter) => waiter.options.pauses)) {
      // Other waits continue, and `wakeAt` stays for them; but the run is working again.
      writer.updateHead({ active: true });
      return;
    }
    this.#isActive = false;
    const { pausedAt, deadline } = writer.runner;
    const waited = pausedAt === undefined ? 0 : Math.max(0, clock.now() - pausedAt);
    writer.updateHead({
      runner: {
        pausedAt: undefined,
        ...(deadline !== undefined && { deadline: deadline + waited }),
      },
      active: true,
      wakeAt: undefined,
    });
    this.#run.continued();
  }

  /** Waits until `poll` returns something. Rejects with the reason if the run must stop. Every `pause` must be followed by a `wait`. */
  wait<T>(options: WaitOptions<T>): Promise<T | typeof TIMED_OUT> {
    const { clock, abortReason } = this.#run;
    if (options.pauses && this.#announced > 0) this.#announced -= 1;
    if (abortReason !== undefined) return Promise.reject(abortReason);
    const ready = options.poll();
    if (ready !== undefined) return Promise.resolve(ready);
    if (options.signal?.aborted === true) return Promise.resolve(TIMED_OUT);
    const result = createDeferred<unknown>({ handled: true });
    const waiter: Waiter = { options, result, since: clock.now(), timer: undefined, onAbort: undefined };
    this.#waiters.push(waiter);
    const { signal } = options;
    if (signal !== undefined) {
      waiter.onAbort = () => this.#settle(waiter, TIMED_OUT);
      signal.addEventListener("abort", waiter.onAbort, { once: true });
    }
    if (options.until !== undefined) {
      waiter.timer = clock.setTimer(options.until, () => this.#settle(waiter, TIMED_OUT), { unref: true });
    }
    this.#armPark();
    // Safe: the waiter is settled only with a result of its own poll, or with TIMED_OUT.
    return result.promise as Promise<T | typeof TIMED_OUT>;
  }

  /** Something arrived in the inbox: polls every wait, oldest first. */
  poll(): void {
    for (const waiter of [...this.#waiters]) {
      const value = waiter.options.poll();
      if (value !== undefined) this.#settle(waiter, value);
    }
  }

  /** The run must stop. The waits of a parked run never settle, so that its code does not continue. */
  abort(reason: TaskAborted): void {
    if (reason.reason !== "parked") for (const waiter of this.#waiters) waiter.result.reject(reason);
    this.close();
  }

  /** The turn is over. Waits that are left never settle. */
  close(): void {
    this.#cancelPark();
    for (const waiter of this.#waiters) release(waiter);
    this.#waiters.length = 0;
  }

  #settle(waiter: Waiter, value: unknown): void {
    const index = this.#waiters.indexOf(waiter);
    if (index === -1) return;
    this.#waiters.splice(index, 1);
    release(waiter);
    waiter.result.resolve(value);
    this.#armPark();
  }

  get wakesAt(): number {
    return Math.min(...this.#waiters.map(({ options }) => options.until ?? Number.POSITIVE_INFINITY));
  }

  #cancelPark(): void {
    if (this.#parkTimer === undefined) return;
    this.#parkTimer.cancel();
    this.#parkTimer = undefined;
    this.#run.idleRuns.delete(this);
  }

  #armPark(): void {
    const { clock, parkAfter, idleRuns } = this.#run;
    this.#cancelPark();
    if (parkAfter === Number.POSITIVE_INFINITY) return;
    const parking = this.#waiters.filter(({ options }) => options.parks);
    if (parking.length === 0 || this.#waiters.some(({ options }) => options.pauses && !options.parks)) return;
    const due = Math.min(...parking.map((waiter) => waiter.since)) + parkAfter;
    this.#parkTimer = clock.setTimer(due, () => this.park(), { unref: true });
    idleRuns.add(this);
  }

  park(): void {
    const { writer, clock, parkAfter } = this.#run;
    // A run with a message in its inbox would be started again immediately.
    if (this.busy === 0 && writer.inbox.length === 0) {
      this.#run.park();
      return;
    }
    this.#parkTimer?.cancel();
    this.#parkTimer = clock.setTimer(clock.now() + parkAfter, () => this.park(), { unref: true });
    this.#run.idleRuns.add(this);
  }
}

function release({ options, timer, onAbort }: Waiter): void {
  timer?.cancel();
  if (onAbort !== undefined) options.signal?.removeEventListener("abort", onAbort);
}
