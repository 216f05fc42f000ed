/**
 * What is known of an origin by its last try. `new`: nothing. `silent`: it gave no answer, so that what waits there may wait for nothing,
 * and must not keep others waiting.
 */
type Standing = "answering" | "new" | "silent";

/** All work for one origin. */
export interface OriginQueue<T> {
  readonly origin: string;
  running: number;
  standing: Standing;
  items: T[];
  /** What of the queue is gone already. */
  taken: number;
  /** Who refers to it. */
  members: number;
}

export interface SchedulerLimits {
  /** Under way at a time. Silent origins together have half of it, and they and new ones together three quarters. */
  readonly total: number;
  readonly perOrigin: number;
}

/** So many origins are remembered as answering while nothing is to be told there. */
const MAX_KNOWN = 10_000;

/**
 * Lets work through: so much at a time in all, and so much per origin. Origins take turns, and each one's work goes in the order in
 * which it came.
 */
export class OriginScheduler<T> {
  readonly #limits: SchedulerLimits;
  readonly #start: (item: T, queue: OriginQueue<T>) => void;
  readonly #queues = new Map<string, OriginQueue<T>>();
  /** OriginScheduler that could go on, in the order of their turns. */
  readonly #ready: Readonly<Record<Standing, Set<OriginQueue<T>>>> = {
    answering: new Set(),
    new: new Set(),
    silent: new Set(),
  };
  readonly #running: Record<Standing, number> = { answering: 0, new: 0, silent: 0 };
  /** Who answered last time: else anybody could, with ever new origins that are silent, have all others wait. */
  readonly #known = new Set<string>();
  #isTurnOfNew = false;
  #isOpen = true;

  constructor(limits: SchedulerLimits, start: (item: T, queue: OriginQueue<T>) => void) {
    this.#limits = limits;
    this.#start = start;
  }

  get running(): number {
    const { answering, new: unknown, silent } = this.#running;
    return answering + unknown + silent;
  }

  /** The queue of an origin. Each time it is joined it must be left once. */
  join(origin: string): OriginQueue<T> {
    let queue = this.#queues.get(origin);
    if (queue === undefined) {
      const standing = this.#known.has(origin) ? "answering" : "new";
      queue = { origin, running: 0, standing, items: [], taken: 0, members: 0 };
      this.#queues.set(origin, queue);
    }
    queue.members += 1;
    return queue;
  }

  leave(queue: OriginQueue<T>): void {
    queue.members -= 1;
    if (queue.members === 0 && queue.running === 0) this.#queues.delete(queue.origin);
  }

  /** Starts it as soon as its turn comes, never within this call. */
  add(queue: OriginQueue<T>, item: T): void {
    queue.items.push(item);
    this.#offer(queue);
    queueMicrotask(() => this.#go());
  }

  /** Something that was started has ended. `silent`: its origin gave no answer; `undefined`: it was not asked. */
  done(queue: OriginQueue<T>, silent: boolean | undefined): void {
    queue.running -= 1;
    this.#running[queue.standing] -= 1;
    if (silent !== undefined) this.#turn(queue, silent ? "silent" : "answering");
    if (queue.members === 0 && queue.running === 0) this.#queues.delete(queue.origin);
    this.#offer(queue);
    this.#go();
  }

  /** Starts nothing any more. */
  close(): void {
    this.#isOpen = false;
  }

  #turn(queue: OriginQueue<T>, standing: Standing): void {
    const { origin } = queue;
    if (standing === queue.standing) return;
    if (standing === "silent") this.#known.delete(origin);
    else this.#known.add(origin);
    const [oldest] = this.#known;
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#ready[queue.standing].delete(queue);
    this.#running[queue.standing] -= queue.running;
    this.#running[standing] += queue.running;
    queue.standing = standing;
  }

  #offer(queue: OriginQueue<T>): void {
    const { perOrigin } = this.#limits;
    if (queue.taken < queue.items.length && queue.running < perOrigin) this.#ready[queue.standing].add(queue);
  }

  #go(): void {
    while (this.#isOpen && this.running < this.#limits.total) {
      const queue = this.#choose();
      if (queue === undefined) return;
      this.#next(queue);
    }
  }

  /** Those that answer and new ones by turns, as far as there is room for the latter; silent ones when nobody else is there. */
  #choose(): OriginQueue<T> | undefined {
    const { total } = this.#limits;
    const { new: unknown, silent } = this.#running;
    if (unknown + silent >= Math.max(1, Math.floor(total * 0.75))) return first(this.#ready.answering);
    const answering = first(this.#ready.answering);
    const fresh = first(this.#ready.new);
    const chosen = this.#isTurnOfNew ? (fresh ?? answering) : (answering ?? fresh);
    this.#isTurnOfNew = chosen === answering;
    if (chosen !== undefined) return chosen;
    return silent < Math.max(1, Math.floor(total / 2)) ? first(this.#ready.silent) : undefined;
  }

  #next(queue: OriginQueue<T>): void {
    this.#ready[queue.standing].delete(queue);
    const item = queue.items[queue.taken];
    if (item === undefined) return;
    queue.taken += 1;
    // What is gone is cut off now and then rather than each time: it would move all the rest.
    if (queue.taken > 64 && queue.taken * 2 > queue.items.length) {
      queue.items = queue.items.slice(queue.taken);
      queue.taken = 0;
    }
    queue.running += 1;
    this.#running[queue.standing] += 1;
    this.#offer(queue);
    this.#start(item, queue);
  }
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
