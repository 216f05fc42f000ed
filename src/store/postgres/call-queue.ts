import { StoreError } from "../contract.ts";

export interface CallQueueOptions {
  /** How many calls run at a time. */
  readonly size: number;
  /** Milliseconds after which a call that has not begun fails. 0: no limit. */
  readonly maxWait: number;
}

interface Waiting {
  begin(): void;
}

/**
 * Lets calls wait for one of the connections of a pool, in their order. The pool itself would give up after the time that an attempt to connect may
 * take, although it is connected, and its error does not say that the call was never sent.
 */
export class CallQueue {
  readonly #maxWait: number;
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor({ size, maxWait }: CallQueueOptions) {
    this.#free = size;
    this.#maxWait = maxWait;
  }

  /** Runs the call when it is its turn. Rejects with `busy` if that takes too long: nothing was sent then. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn();
    try {
      return await call();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next.begin();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        const limit = `for ${this.#maxWait / 1000} s`;
        reject(new StoreError("busy", `PostgreSQL: all connections were in use ${limit}; nothing was sent.`));
      };
      const timer = this.#maxWait > 0 ? setTimeout(giveUp, this.#maxWait) : undefined;
      this.#waiting.add(waiting);
    });
  }
}
