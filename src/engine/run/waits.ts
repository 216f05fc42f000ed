import type { Clock, Timer } from "../../internal/clock.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { TaskAborted } from "../agent/agent.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";

export const TIMED_OUT: unique symbol = Symbol("timed out");

export interface WaitOptions<T> {
  /** What is waited for, once it is there. Asked now and whenever something arrives. */
  readonly poll: () => T | undefined;
  /** When to give up (store time). */
  readonly until?: number | undefined;
  /** Gives up when this aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The time does not count as work, and the task need not be at work meanwhile. */
  readonly pauses: boolean;
  /**
   * The run may be let go of, to be started again when there is something for it. Where it pauses without that, it waits for something of
   * its own, and must be there for it.
   */
  readonly parks: boolean;
}

interface Waiter {
  readonly options: WaitOptions<unknown>;
  readonly result: Deferred<unknown>;
  readonly since: number;
  timer: Timer | undefined;
  giveUp: (() => void) | undefined;
}

export interface WaitsOptions {
  readonly writer: TaskLogWriter;
  readonly clock: Clock;
  /** Milliseconds after which a waiting run is parked; `Infinity`: never. */
  readonly parkAfter: number;
  /** Somebody must be at work on the task even while it waits: its agent cannot be started again. */
  readonly staysActive: boolean;
  /** Why the run must stop, if it must. */
  readonly aborted: () => Error | undefined;
  readonly onPark: () => void;
  readonly onResume: () => void;
}

/** Everything a run waits for: answers, messages, times. */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #waiters = new Set<Waiter>();
  #parkTimer: Timer | undefined;
  /** Work that must not be cut off by parking. */
  busy = 0;
  /** Waits that were announced by `pause` and have not begun: they are on their way into the store. */
  #announced = 0;
  /** Something that is waited for, or is about to be, needs somebody at work on the task. */
  #isActive = false;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /**
   * Says, with the next commit, that the task waits and until when; called before the wait itself so that both are one write. `active`:
   * the run waits for something of its own as well, so that somebody must be at work on the task.
   */
  pause(until: number | undefined, { active = false }: { readonly active?: boolean } = {}): void {
    const { writer, clock, staysActive } = this.#options;
    const pausedAt = writer.runner.pausedAt ?? clock.now();
    this.#announced += 1;
    this.#isActive ||= active;
    const wakes = [until, writer.wakeAt, writer.runner.limitAt].filter((time) => time !== undefined);
    writer.updateHead({
      runner: { pausedAt },
      active: staysActive || this.#isActive,
      wakeAt: wakes.length > 0 ? Math.min(...wakes) : undefined,
    });
  }

  /** Back at work: the deadline moves on by the time that was waited. */
  resume(): void {
    const { writer, clock, onResume } = this.#options;
    if (this.#announced > 0 || [...this.#waiters].some((waiter) => waiter.options.pauses)) {
      // What else is waited for goes on, and when to wake for it stays; but somebody is at work until nobody is.
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
    onResume();
  }

  /** Every pause that was announced is to be followed by one of these. */
  wait<T>(options: WaitOptions<T>): Promise<T | typeof TIMED_OUT> {
    const { clock, aborted } = this.#options;
    if (options.pauses && this.#announced > 0) this.#announced -= 1;
    const reason = aborted();
    if (reason !== undefined) return Promise.reject(reason);
    const ready = options.poll();
    if (ready !== undefined) return Promise.resolve(ready);
    if (options.signal?.aborted === true) return Promise.resolve(TIMED_OUT);
    const result = createDeferred<unknown>({ handled: true });
    const waiter: Waiter = { options, result, since: clock.now(), timer: undefined, giveUp: undefined };
    this.#waiters.add(waiter);
    const { signal } = options;
    if (signal !== undefined) {
      waiter.giveUp = () => this.#settle(waiter, TIMED_OUT);
      signal.addEventListener("abort", waiter.giveUp, { once: true });
    }
    if (options.until !== undefined) {
      waiter.timer = clock.setTimer(options.until, () => this.#settle(waiter, TIMED_OUT), { unref: true });
    }
    this.#armPark();
    // Safe: the waiter is only ever settled with what its own poll returned, or with the time-out.
    return result.promise as Promise<T | typeof TIMED_OUT>;
  }

  /** Something arrived: asks everybody, oldest first. */
  poll(): void {
    for (const waiter of [...this.#waiters]) {
      const value = waiter.options.poll();
      if (value !== undefined) this.#settle(waiter, value);
    }
  }

  /** The run must stop. A parked run's waits never end: it is simply not there any more. */
  abort(reason: TaskAborted): void {
    if (reason.reason !== "parked") for (const waiter of this.#waiters) waiter.result.reject(reason);
    this.close();
  }

  /** The turn is over: whoever still waits, waits for nothing. */
  close(): void {
    this.#parkTimer?.cancel();
    for (const waiter of this.#waiters) release(waiter);
    this.#waiters.clear();
  }

  #settle(waiter: Waiter, value: unknown): void {
    if (!this.#waiters.delete(waiter)) return;
    release(waiter);
    waiter.result.resolve(value);
    this.#armPark();
  }

  #armPark(): void {
    const { writer, clock, parkAfter, onPark } = this.#options;
    this.#parkTimer?.cancel();
    this.#parkTimer = undefined;
    if (parkAfter === Number.POSITIVE_INFINITY) return;
    const waiters = [...this.#waiters];
    const parking = waiters.filter(({ options }) => options.parks);
    if (parking.length === 0 || waiters.some(({ options }) => options.pauses && !options.parks)) return;
    const due = Math.min(...parking.map((waiter) => waiter.since)) + parkAfter;
    const park = (): void => {
      // With something unread in its inbox it would be started again at once, only to wait again.
      if (this.busy === 0 && writer.inbox.length === 0) onPark();
      else this.#parkTimer = clock.setTimer(clock.now() + parkAfter, park, { unref: true });
    };
    this.#parkTimer = clock.setTimer(due, park, { unref: true });
  }
}

function release({ options, timer, giveUp }: Waiter): void {
  timer?.cancel();
  if (giveUp !== undefined) options.signal?.removeEventListener("abort", giveUp);
}
