import { createDeferred, type Deferred } from "../internal/deferred.ts";

interface Waiting {
  readonly amount: number;
  readonly turn: Deferred<void>;
}

/** So much of something for all together. Who waits for a share gets it in the order of asking. */
export class Budget {
  readonly #total: number;
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Takes so much if it is there at once. */
  tryTake(amount: number): boolean {
    const share = Math.min(amount, this.#total);
    if (this.#waiting.length > 0 || share > this.#free) return false;
    this.#free -= share;
    return true;
  }

  /** Takes so much as soon as it is there; who asks for more than there is gets all. */
  async take(amount: number): Promise<void> {
    if (this.tryTake(amount)) return;
    const turn = createDeferred<void>();
    this.#waiting.push({ amount: Math.min(amount, this.#total), turn });
    await turn.promise;
  }

  /** Gives back what was taken. */
  give(amount: number): void {
    this.#free += Math.min(amount, this.#total);
    for (let next = this.#waiting[0]; next !== undefined && next.amount <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.amount;
      next.turn.resolve();
    }
  }
}
