/**
 * What is known of an origin by its last try. `new`: nothing. `silent`: it gave no answer, so that what waits there may wait for nothing,
 * and must not keep others waiting.
 */
type Standing = "answering" | "new" | "silent";

/** All work for one origin. */
export interface Lane<T> {
  readonly origin: string;
  running: number;
  standing: Standing;
  queue: T[];
  /** What of the queue is gone already. */
  taken: number;
  /** Who refers to it. */
  members: number;
}

export interface LaneLimits {
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
export class Lanes<T> {
  readonly #limits: LaneLimits;
  readonly #start: (item: T, lane: Lane<T>) => void;
  readonly #lanes = new Map<string, Lane<T>>();
  /** Lanes that could go on, in the order of their turns. */
  readonly #ready: Readonly<Record<Standing, Set<Lane<T>>>> = {
    answering: new Set(),
    new: new Set(),
    silent: new Set(),
  };
  readonly #running: Record<Standing, number> = { answering: 0, new: 0, silent: 0 };
  /** Who answered last time: else anybody could, with ever new origins that are silent, have all others wait. */
  readonly #known = new Set<string>();
  #isTurnOfNew = false;
  #isOpen = true;

  constructor(limits: LaneLimits, start: (item: T, lane: Lane<T>) => void) {
    this.#limits = limits;
    this.#start = start;
  }

  get running(): number {
    const { answering, new: unknown, silent } = this.#running;
    return answering + unknown + silent;
  }

  /** The lane of an origin. Each time it is joined it must be left once. */
  join(origin: string): Lane<T> {
    let lane = this.#lanes.get(origin);
    if (lane === undefined) {
      const standing = this.#known.has(origin) ? "answering" : "new";
      lane = { origin, running: 0, standing, queue: [], taken: 0, members: 0 };
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
    this.#running[lane.standing] -= 1;
    if (silent !== undefined) this.#turn(lane, silent ? "silent" : "answering");
    if (lane.members === 0 && lane.running === 0) this.#lanes.delete(lane.origin);
    this.#offer(lane);
    this.#go();
  }

  /** Starts nothing any more. */
  close(): void {
    this.#isOpen = false;
  }

  #turn(lane: Lane<T>, standing: Standing): void {
    const { origin } = lane;
    if (standing === lane.standing) return;
    if (standing === "silent") this.#known.delete(origin);
    else this.#known.add(origin);
    const [oldest] = this.#known;
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#ready[lane.standing].delete(lane);
    this.#running[lane.standing] -= lane.running;
    this.#running[standing] += lane.running;
    lane.standing = standing;
  }

  #offer(lane: Lane<T>): void {
    const { perOrigin } = this.#limits;
    if (lane.taken < lane.queue.length && lane.running < perOrigin) this.#ready[lane.standing].add(lane);
  }

  #go(): void {
    while (this.#isOpen && this.running < this.#limits.total) {
      const lane = this.#choose();
      if (lane === undefined) return;
      this.#next(lane);
    }
  }

  /** Those that answer and new ones by turns, as far as there is room for the latter; silent ones when nobody else is there. */
  #choose(): Lane<T> | undefined {
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

  #next(lane: Lane<T>): void {
    this.#ready[lane.standing].delete(lane);
    const item = lane.queue[lane.taken];
    if (item === undefined) return;
    lane.taken += 1;
    // What is gone is cut off now and then rather than each time: it would move all the rest.
    if (lane.taken > 64 && lane.taken * 2 > lane.queue.length) {
      lane.queue = lane.queue.slice(lane.taken);
      lane.taken = 0;
    }
    lane.running += 1;
    this.#running[lane.standing] += 1;
    this.#offer(lane);
    this.#start(item, lane);
  }
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
