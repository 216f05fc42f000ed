import type { CommitKey, Outcome, Store, StoreOperation } from "../store/contract.ts";
import { StoreError } from "../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../store/store-wrapper.ts";

export type { StoreMethod } from "../store/store-wrapper.ts";

/** The faults of an unreliable store. */
export interface StoreFaults {
  /**
   * Additional milliseconds of each call: a random whole number from `min` to `max`. A random part of it passes before the store receives the call and
   * the rest before the caller gets the result, so calls, commits included, overtake each other and results may be stale. Default: no delay.
   */
  readonly delay?: { readonly min: number; readonly max: number };
  /**
   * Probability from 0 to 1 that a call rejects: one for all methods, or one for each named method. A rejected call does not reach the store. The
   * error is a {@link StoreError}: `busy` for methods that read, `busy` or `full` for methods that write. Default 0.
   */
  readonly failures?: number | Partial<Readonly<Record<StoreMethod, number>>>;
  /**
   * Probability from 0 to 1 that the answer to `commit`, `claimDue` or `claimWebhooks` is lost: the call rejects with the {@link StoreError}
   * `lost`. The store has applied it, applies it up to two delays later, or never gets it: each in a third of the cases. Default 0.
   */
  readonly lost?: number;
  /** Commits apply the operations of different tasks in random order. Operations of one task keep their order. Default false. */
  readonly reorders?: boolean;
}

/** Options of `createUnreliableStore`. */
export interface UnreliableStoreOptions extends StoreFaults {
  /** A whole number. The same seed and the same order of calls give the same delays and failures. Default 1. */
  readonly seed?: number;
  /** Waits for the given milliseconds. Default: `setTimeout`. Replace it to use fake time. */
  readonly wait?: (milliseconds: number) => Promise<void>;
}

/** A store with random delays and failures. */
export interface UnreliableStore extends Store {
  /** Replaces the faults for later calls; `{}` removes them. Calls in progress keep theirs. Throws a `RangeError` for invalid values. */
  setFaults(faults: StoreFaults): void;
  /** How many calls have failed on purpose so far. */
  readonly failed: number;
}

/**
 * Wraps a store so that it behaves like one behind a network: every call has a random delay and may fail. For tests of code that uses a store. Throws a
 * `RangeError` for an invalid delay, probability or seed.
 */
export function createUnreliableStore(store: Store, options: UnreliableStoreOptions = {}): UnreliableStore {
  return new RandomlyUnreliableStore(store, options);
}

const WRITES: ReadonlySet<StoreMethod> = new Set([
  ...(["commit", "claimDue", "claimWebhooks", "heartbeat", "leave", "sweep", "health"] as const),
]);

const LOSABLE: ReadonlySet<StoreMethod> = new Set(["commit", "claimDue", "claimWebhooks"]);

class RandomlyUnreliableStore extends StoreWrapper implements UnreliableStore {
  readonly #random: () => number;
  readonly #wait: (milliseconds: number) => Promise<void>;
  #faults: StoreFaults = {};
  #failed = 0;

  constructor(store: Store, { seed = 1, wait = realTime, ...faults }: UnreliableStoreOptions) {
    super(store);
    this.#random = seededRandom(seed);
    this.#wait = wait;
    this.setFaults(faults);
  }

  get failed(): number {
    return this.#failed;
  }

  setFaults(faults: StoreFaults): void {
    checkFaults(faults);
    this.#faults = faults;
  }

  override async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    if (this.#faults.reorders !== true) return super.commit(operations, key);
    // A repetition with the same key must have the same order: the store answers it with the outcomes of the first time.
    const order = shuffledByTask(operations, key === undefined ? this.#random : seededRandom(key.n));
    const outcomes = await super.commit(
      order.map(({ operation }) => operation),
      key,
    );
    return order
      .flatMap(({ index }, place) => {
        const outcome = outcomes[place];
        return outcome === undefined ? [] : [{ index, outcome }];
      })
      .sort((a, b) => a.index - b.index)
      .map(({ outcome }) => outcome);
  }

  protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
    // All random numbers are drawn before the first await, so only the order of calls decides.
    const { delay = { min: 0, max: 0 }, failures = 0, lost = 0 } = this.#faults;
    const random = this.#random;
    const total = delay.min + Math.floor(random() * (delay.max - delay.min + 1));
    const before = Math.floor(random() * (total + 1));
    const probability = typeof failures === "number" ? failures : (failures[method] ?? 0);
    const fails = random() < probability;
    const code = random() < 0.5 || !WRITES.has(method) ? "busy" : "full";
    const isLost = lost > 0 && LOSABLE.has(method) && random() < lost;
    const arrives = isLost ? ARRIVALS[Math.floor(random() * ARRIVALS.length)] : "now";
    const late = isLost ? Math.floor(random() * (2 * delay.max + 1)) : 0;
    if (before > 0) await this.#wait(before);
    // The result may be stale when the caller gets it.
    const answer = fails ? this.#fail(method, code) : isLost ? this.#lose(method, { call, arrives, late }) : call();
    if (total > before) {
      answer.catch(() => {});
      await this.#wait(total - before);
    }
    return answer;
  }

  #fail(method: StoreMethod, code: "busy" | "full" | "lost"): Promise<never> {
    this.#failed += 1;
    return Promise.reject(new StoreError(code, `${method} failed on purpose (${code}).`));
  }

  /** Calls the store now, later or never, and rejects. */
  async #lose<T>(method: StoreMethod, { call, arrives, late }: LostCall<T>): Promise<never> {
    const ignored = (): void => {};
    if (arrives === "now") await call().catch(ignored);
    if (arrives === "later") void this.#wait(late).then(call).catch(ignored);
    return this.#fail(method, "lost");
  }
}

const ARRIVALS = ["now", "later", "never"] as const;

/** A call whose answer is lost. */
interface LostCall<T> {
  readonly call: () => Promise<T>;
  readonly arrives: (typeof ARRIVALS)[number] | undefined;
  /** For `later`: milliseconds. */
  readonly late: number;
}

interface PlacedOperation {
  readonly operation: StoreOperation;
  /** Its index in the commit. */
  readonly index: number;
}

/** The operations with the tasks in random order, and each task's operations in their order. */
function shuffledByTask(operations: readonly StoreOperation[], random: () => number): readonly PlacedOperation[] {
  const byTask = new Map<string, PlacedOperation[]>();
  for (const [index, operation] of operations.entries()) {
    const placed = byTask.get(operation.task) ?? [];
    placed.push({ operation, index });
    byTask.set(operation.task, placed);
  }
  return Array.from(byTask.values(), (placed) => ({ placed, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ placed }) => placed);
}

function checkFaults({ delay, failures = 0, lost = 0 }: StoreFaults): void {
  if (delay !== undefined) {
    const { min, max } = delay;
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || max < min)
      throw new RangeError("delay: min and max must be whole numbers of milliseconds, 0 <= min <= max.");
  }
  for (const probability of typeof failures === "number" ? [failures] : Object.values(failures)) {
    if (!(probability >= 0 && probability <= 1)) throw new RangeError("failures: a probability must be from 0 to 1.");
  }
  if (!(lost >= 0 && lost <= 1)) throw new RangeError("lost: a probability must be from 0 to 1.");
}

/** Random numbers from 0 to 1 (exclusive), the same for the same seed (a linear congruential generator, its upper bits mixed). */
function seededRandom(seed: number): () => number {
  if (!Number.isSafeInteger(seed)) throw new RangeError("seed: must be a whole number.");
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
  };
}

function realTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
