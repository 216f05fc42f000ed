import { createDeferred, type Deferred } from "../internal/deferred.ts";

interface Waiting {
  readonly amount: number;
  readonly turn: Deferred<void>;
}

/** A semaphore over an amount, such as bytes. Waiting callers get their share in the order in which they asked. */
export class Budget {
  readonly #total: number;
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Takes the amount if it is free now; false if not. */
  tryTake(amount: number): boolean {
    const share = Math.min(amount, this.#total);
    if (this.#waiting.length > 0 || share > this.#free) return false;
    this.#free -= share;
    return true;
  }

  /** Takes the amount as soon as it is free. An amount above the total counts as the total. */
  async take(amount: number): Promise<void> {
    if (this.tryTake(amount)) return;
    const turn = createDeferred<void>();
    this.#waiting.push({ amount: Math.min(amount, this.#total), turn });
    await turn.promise;
  }

  /** Returns an amount that was taken. */
  give(amount: number): void {
    this.#free += Math.min(amount, this.#total);
    for (let next = this.#waiting[0]; next !== undefined && next.amount <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.amount;
      next.turn.resolve();
    }
  }
}
