import type { Clock, Timer } from "../internal/clock.ts";

interface Item<T> {
  readonly at: number;
  readonly value: T;
}

/**
 * Many timers that share one system timer: a binary heap, ordered by due time. Values cannot be removed one by one; the callback must
 * ignore those that are no longer wanted.
 */
export class TimerHeap<T> {
  readonly #clock: Clock;
  readonly #callback: (value: T) => void;
  readonly #heap: Item<T>[] = [];
  #timer: Timer | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, callback: (value: T) => void) {
    this.#clock = clock;
    this.#callback = callback;
  }

  /** Calls back with `value` at time `at` (milliseconds, by the clock). A value added twice is called back twice. */
  add(value: T, at: number): void {
    const heap = this.#heap;
    let index = heap.length;
    const item: Item<T> = { at, value };
    heap.push(item);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || parent.at <= at) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = item;
    this.#arm();
  }

  /** Removes all values. */
  clear(): void {
    this.#heap.length = 0;
    this.#timer?.cancel();
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  /** Sets the system timer only if the earliest value became earlier. */
  #arm(): void {
    const at = this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
    if (at >= this.#armedFor) return;
    this.#timer?.cancel();
    this.#armedFor = at;
    this.#timer = this.#clock.setTimer(at, () => this.#elapsed(), { unref: true });
  }

  #elapsed(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#removeFirst();
      this.#callback(first.value);
    }
    this.#arm();
  }

  /** Moves the last value to the top and down to its place. */
  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = right !== undefined && left !== undefined && right.at < left.at;
      const smaller = isRight ? right : left;
      if (smaller === undefined || smaller.at >= last.at) break;
      heap[index] = smaller;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}
