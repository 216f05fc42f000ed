import { CallError } from "./call-error.ts";
import type { CallingTask } from "./calling-task.ts";

/** Milliseconds before events that ended too early are read again, and before an agent that could not be reached is tried again; doubled each time. */
export const RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;
/** Milliseconds for which the card of an agent is tried to be read; and for which an agent is tried to be reached that has not accepted the message. */
const UNKNOWN_MS = 30_000;
const UNACCEPTED_MS = 600_000;

/** What the requests of a call need to know about it. */
export interface CallRequestsOptions {
  /** Aborts if the author cancels the call. */
  readonly canceled: AbortSignal;
  /** `unknown`: nothing is known of the agent; `accepted`: it has accepted the message. */
  readonly progress: () => "unknown" | "known" | "accepted";
  readonly error: (code: "call-timeout" | "call-canceled", what: string) => CallError;
}

/** Makes the requests of one call: until it must stop, and again while the agent cannot be reached. */
export class CallRequests {
  readonly #task: CallingTask;
  readonly #options: CallRequestsOptions;
  readonly #aborter = new AbortController();
  readonly #stops: (() => void)[] = [];
  #hasTimedOut = false;

  constructor(task: CallingTask, options: CallRequestsOptions) {
    this.#task = task;
    this.#options = options;
    for (const signal of [task.signal, options.canceled]) {
      const abort = (): void => this.#aborter.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      this.#stops.push(() => signal.removeEventListener("abort", abort));
    }
  }

  /** Aborts when the call must stop. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** The call fails this many milliseconds after `since`. */
  limit(since: number, milliseconds: number | undefined): void {
    if (milliseconds === undefined) return;
    const stop = (): void => {
      this.#hasTimedOut = true;
      this.#aborter.abort();
    };
    this.#stops.push(this.#task.timer(since + milliseconds, stop));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#aborter.abort();
  }

  /** Waits. Rejects if the call must stop. */
  async pause(milliseconds: number): Promise<void> {
    const { signal } = this;
    await new Promise<void>((resolve) => {
      this.#stops.push(this.#task.timer(this.#task.now() + milliseconds, resolve));
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    signal.throwIfAborted();
  }

  /**
   * Makes requests, and repeats them while the agent cannot be reached: for as long as the calling task may run if the agent has accepted the
   * message, else for {@link UNACCEPTED_MS}, or {@link UNKNOWN_MS} if nothing is known of the agent.
   */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { progress } = this.#options;
    const since = this.#task.now();
    const isAccepted = progress() === "accepted";
    for (let wait = RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      try {
        return await this.#reach(work);
      } catch (error) {
        const most = progress() === "unknown" ? UNKNOWN_MS : UNACCEPTED_MS;
        const isLate = !isAccepted && this.#task.now() - since > most;
        if (!(error instanceof CallError) || !error.transient || isLate) throw error;
        await this.#reach(() => this.pause(wait));
      }
    }
  }

  /** Makes requests, and turns their errors into those of the call. */
  async #reach<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this;
    const { canceled, error: errorOf } = this.#options;
    try {
      signal.throwIfAborted();
      const aborted = new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
      return await Promise.race([work(), aborted]);
    } catch (error) {
      if (this.#task.signal.aborted) throw this.#task.signal.reason;
      if (this.#hasTimedOut) throw errorOf("call-timeout", "did not end in time");
      if (canceled.aborted) throw errorOf("call-canceled", "was canceled by the calling agent");
      throw error;
    }
  }
}
