/** All work for one origin. */
export interface Lane<T> {
  readonly origin: string;
  running: number;
  /** The last try got no answer: what waits there may wait for nothing, and must not keep others waiting. */
  silent: boolean;
  queue: T[];
  /** What of the queue is gone already. */
  taken: number;
  /** Who refers to it. */
  members: number;
}

export interface LaneLimits {
  /** Under way at a time. Silent origins together have half of it. */
  readonly total: number;
  readonly perOrigin: number;
}

/**
 * Lets work through: so much at a time in all, and so much per origin. Origins take turns, and each one's work goes in the order in
 * which it came.
 */
export class Lanes<T> {
  readonly #limits: LaneLimits;
  readonly #start: (item: T, lane: Lane<T>) => void;
  readonly #lanes = new Map<string, Lane<T>>();
  /** Lanes that could go on, in the order of their turns. */
  readonly #ready = new Set<Lane<T>>();
  readonly #silent = new Set<Lane<T>>();
  #running = 0;
  #silentRunning = 0;
  #isOpen = true;

  constructor(limits: LaneLimits, start: (item: T, lane: Lane<T>) => void) {
    this.#limits = limits;
    this.#start = start;
  }

  get running(): number {
    return this.#running;
  }

  /** The lane of an origin. Each time it is joined it must be left once. */
  join(origin: string): Lane<T> {
    let lane = this.#lanes.get(origin);
    if (lane === undefined) {
      lane = { origin, running: 0, silent: false, queue: [], taken: 0, members: 0 };
      this.#lanes.set(origin, lane);
    }
    lane.members += 1;
    return lane;
  }

  leave(lane: Lane<T>): void {
    lane.members -= 1;
    if (lane.members === 0 && lane.running === 0) this.#lanes.delete(lane.origin);
  }

  /** Starts it as soon as its turn comes, never within this call. */
  add(lane: Lane<T>, item: T): void {
    lane.queue.push(item);
    this.#offer(lane);
    queueMicrotask(() => this.#go());
  }

  /** Something that was started has ended. `silent`: its origin gave no answer; `undefined`: it was not asked. */
  done(lane: Lane<T>, silent: boolean | undefined): void {
    lane.running -= 1;
    this.#running -= 1;
    if (lane.silent) this.#silentRunning -= 1;
    if (silent !== undefined && silent !== lane.silent) this.#turn(lane, silent);
    if (lane.members === 0 && lane.running === 0) this.#lanes.delete(lane.origin);
    this.#offer(lane);
    this.#go();
  }

  /** Starts nothing any more. */
  close(): void {
    this.#isOpen = false;
  }

  #turn(lane: Lane<T>, silent: boolean): void {
    lane.silent = silent;
    this.#silentRunning += silent ? lane.running : -lane.running;
    this.#ready.delete(lane);
    this.#silent.delete(lane);
  }

  #offer(lane: Lane<T>): void {
    if (lane.taken >= lane.queue.length || lane.running >= this.#limits.perOrigin) return;
    (lane.silent ? this.#silent : this.#ready).add(lane);
  }

  #go(): void {
    const { total } = this.#limits;
    while (this.#isOpen && this.#running < total) {
      const silentHaveRoom = this.#silentRunning < Math.max(1, Math.floor(total / 2));
      const lane = first(this.#ready) ?? (silentHaveRoom ? first(this.#silent) : undefined);
      if (lane === undefined) return;
      this.#next(lane);
    }
  }

  #next(lane: Lane<T>): void {
    this.#ready.delete(lane);
    this.#silent.delete(lane);
    const item = lane.queue[lane.taken];
    if (item === undefined) return;
    lane.taken += 1;
    // What is gone is cut off now and then rather than each time: it would move all the rest.
    if (lane.taken > 64 && lane.taken * 2 > lane.queue.length) {
      lane.queue = lane.queue.slice(lane.taken);
      lane.taken = 0;
    }
    lane.running += 1;
    this.#running += 1;
    if (lane.silent) this.#silentRunning += 1;
    this.#offer(lane);
    this.#start(item, lane);
  }
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
