/**
 * What the last attempt showed about an origin. `new`: no attempt yet. `silent`: it did not answer, so requests to it may block a slot until
 * they time out.
 */
type Standing = "answering" | "new" | "silent";

/** The work for one origin. */
export interface OriginQueue<T> {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Started items that have not ended. */
  running: number;
  standing: Standing;
  items: T[];
  /** How many of `items` were started; the others wait. */
  taken: number;
  /** How many callers joined this queue and have not left it. */
  members: number;
}

/** How much work runs at a time. */
export interface SchedulerLimits {
  /** Work items running at a time. Silent origins use at most 50 % of them, silent and new origins together at most 75 %. */
  readonly total: number;
  /** Work items of one origin running at a time. */
  readonly perOrigin: number;
}

/** How many origins are remembered as answering while they have no work. */
const MAX_KNOWN = 10_000;

/**
 * Starts work within a total limit and a limit per origin. Origins take turns; the work of one origin starts in the order in which it was
 * added.
 */
export class OriginScheduler<T> {
  readonly #limits: SchedulerLimits;
  readonly #start: (item: T, queue: OriginQueue<T>) => void;
  readonly #queues = new Map<string, OriginQueue<T>>();
  /** Queues with work that may start, in the order of their turns. */
  readonly #ready: Readonly<Record<Standing, Set<OriginQueue<T>>>> = {
    answering: new Set(),
    new: new Set(),
    silent: new Set(),
  };
  readonly #running: Record<Standing, number> = { answering: 0, new: 0, silent: 0 };
  /** Origins that answered last time. Without this, a caller could block everybody with ever new origins that never answer. */
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

  /** The queue of an origin. Every `join` needs one `leave`. */
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

  /** Items that were added and not started still get their turn. */
  leave(queue: OriginQueue<T>): void {
    queue.members -= 1;
    if (queue.members === 0 && queue.running === 0) this.#queues.delete(queue.origin);
  }

  /** Queues an item. It starts when its turn comes, never during this call. */
  add(queue: OriginQueue<T>, item: T): void {
    queue.items.push(item);
    this.#markReady(queue);
    queueMicrotask(() => this.#startWhilePossible());
  }

  /** A started item has ended. `silent`: the origin did not answer; `undefined`: no request was sent. */
  done(queue: OriginQueue<T>, silent: boolean | undefined): void {
    queue.running -= 1;
    this.#running[queue.standing] -= 1;
    if (silent !== undefined) this.#setStanding(queue, silent ? "silent" : "answering");
    if (queue.members === 0 && queue.running === 0) this.#queues.delete(queue.origin);
    this.#markReady(queue);
    this.#startWhilePossible();
  }

  /** Starts no further item. */
  close(): void {
    this.#isOpen = false;
  }

  /** Moves the running items of the queue to the limit of its new standing. */
  #setStanding(queue: OriginQueue<T>, standing: Standing): void {
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

  #markReady(queue: OriginQueue<T>): void {
    const { perOrigin } = this.#limits;
    if (queue.taken < queue.items.length && queue.running < perOrigin) this.#ready[queue.standing].add(queue);
  }

  #startWhilePossible(): void {
    while (this.#isOpen && this.running < this.#limits.total) {
      const queue = this.#choose();
      if (queue === undefined) return;
      this.#startOne(queue);
    }
  }

  /** Answering and new origins in alternation, within the limit for new ones; silent origins only if no other has work. */
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

  /** The queue goes to the end of its set if it has more work: origins take turns. */
  #startOne(queue: OriginQueue<T>): void {
    this.#ready[queue.standing].delete(queue);
    const item = queue.items[queue.taken];
    if (item === undefined) return;
    queue.taken += 1;
    // Remove started items in batches: removing each would move all the others.
    if (queue.taken > 64 && queue.taken * 2 > queue.items.length) {
      queue.items = queue.items.slice(queue.taken);
      queue.taken = 0;
    }
    queue.running += 1;
    this.#running[queue.standing] += 1;
    this.#markReady(queue);
    this.#start(item, queue);
  }
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
