import type { TaskLogWriter } from "../log/task-log-writer.ts";

/** A resolved promise, shared by all calls that need not wait. */
export const RESOLVED: Promise<never> = Promise.resolve() as Promise<never>;

/**
 * Runs the calls of one attempt in the order they were made. A call runs immediately, unless an earlier one still waits: restarting an artifact
 * reads the log. The promise of a call resolves when the writer has room for more.
 */
export class CallOrder {
  readonly #writer: Pick<TaskLogWriter, "room">;
  /** Settled when all calls so far are done. Never rejects. */
  #last: Promise<void> = RESOLVED;
  #waiting = 0;

  constructor(writer: Pick<TaskLogWriter, "room">) {
    this.#writer = writer;
  }

  /** No call waits. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves when all calls so far are done. Never rejects. */
  get done(): Promise<void> {
    return this.#last;
  }

  /** `call` returns a promise only if it must wait for something. */
  run(call: () => Promise<void> | undefined): Promise<void> {
    if (!this.isIdle) return this.#enqueue(this.#last.then(call));
    const pending = call();
    return pending === undefined ? (this.#writer.room() ?? RESOLVED) : this.#enqueue(pending);
  }

  #enqueue(pending: Promise<void>): Promise<void> {
    this.#waiting++;
    const done = pending.then(() => this.#writer.room());
    const leave = (): void => {
      this.#waiting--;
    };
    // The next call runs even if this one fails.
    this.#last = done.then(leave, leave);
    return done;
  }
}
