/** Longer delays overflow `setTimeout`, which then fires immediately. */
const LONGEST_WAIT = 2 ** 31 - 1;
/** The place of a timer that is in no queue. */
const NOWHERE = -1;

export interface TimerQueueOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The timers do not keep the process alive. */
  readonly unref: boolean;
}

/** A callback at a time. */
export class QueuedTimer {
  readonly at: number;
  /** Of two timers for the same time, the one with the lower number fires first. */
  readonly number: number;
  readonly callback: () => void;
  /** Only the queue sets it. */
  place: number = NOWHERE;
  readonly #queue: TimerQueue;

  constructor(queue: TimerQueue, number: number, { at, callback }: Pick<QueuedTimer, "at" | "callback">) {
    this.#queue = queue;
    this.number = number;
    this.at = at;
    this.callback = callback;
  }

  /** Has no effect after the timer fired. */
  cancel(): void {
    if (this.place !== NOWHERE) this.#queue.remove(this);
  }
}

/** Many timers that share one system timer: a binary heap, ordered by time. A waiting task has several, so each must be small. */
export class TimerQueue {
  readonly #options: TimerQueueOptions;
  readonly #heap: QueuedTimer[] = [];
  #numbers = 0;
  #timeout: NodeJS.Timeout | undefined;
  /** When the system timer fires. */
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(options: TimerQueueOptions) {
    this.#options = options;
  }

  /** Calls back once, at the time `at` or later, never synchronously; with `Infinity` never. */
  add(at: number, callback: () => void): QueuedTimer {
    this.#numbers += 1;
    const timer = new QueuedTimer(this, this.#numbers, { at, callback });
    if (at === Number.POSITIVE_INFINITY) return timer;
    this.#heap.push(timer);
    this.#moveUp(timer, this.#heap.length - 1);
    if (at < this.#armedFor) this.rearm();
    return timer;
  }

  remove(timer: QueuedTimer): void {
    const { place } = timer;
    const last = this.#heap.pop();
    timer.place = NOWHERE;
    if (last !== undefined && last !== timer) {
      this.#moveUp(last, place);
      this.#moveDown(last, last.place);
    }
    // Otherwise the system timer may fire early, and is then set again.
    if (this.#heap.length === 0) this.rearm();
  }

  /** Sets the system timer again: the time has changed, or another timer is the first. */
  rearm(): void {
    clearTimeout(this.#timeout);
    const [first] = this.#heap;
    this.#timeout = undefined;
    this.#armedFor = first?.at ?? Number.POSITIVE_INFINITY;
    if (first === undefined) return;
    const wait = Math.min(Math.max(first.at - this.#options.now(), 0), LONGEST_WAIT);
    this.#timeout = setTimeout(() => this.#elapsed(), wait);
    if (this.#options.unref) this.#timeout.unref();
  }

  #elapsed(): void {
    // A long delay may not be over yet, the clock may have been set back, and `setTimeout` may fire early.
    const now = this.#options.now();
    // Timers that a callback adds fire later, also if they are due.
    const before = this.#numbers;
    try {
      for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
        if (first.number > before) break;
        this.remove(first);
        first.callback();
      }
    } finally {
      this.rearm();
    }
  }

  #moveUp(timer: QueuedTimer, from: number): void {
    const heap = this.#heap;
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, timer)) break;
      heap[place] = parent;
      parent.place = place;
      place = above;
    }
    heap[place] = timer;
    timer.place = place;
  }

  #moveDown(timer: QueuedTimer, from: number): void {
    const heap = this.#heap;
    let place = from;
    for (;;) {
      const left = heap[2 * place + 1];
      const right = heap[2 * place + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || isBefore(timer, child)) break;
      heap[place] = child;
      const below = 2 * place + (isRight ? 2 : 1);
      child.place = place;
      place = below;
    }
    heap[place] = timer;
    timer.place = place;
  }
}

function isBefore(one: QueuedTimer, other: QueuedTimer): boolean {
  return one.at === other.at ? one.number < other.number : one.at < other.at;
}
