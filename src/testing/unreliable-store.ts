import { createDeferred, type Deferred } from "../internal/deferred.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import {
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type Outcome,
  type Position,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskRecord,
  type WebhookRecord,
} from "../store/contract.ts";

/** The methods of a store that can be delayed and made to fail: all but `close`. */
export type StoreMethod = Exclude<keyof Store, "close">;

/** The faults of an unreliable store. */
export interface StoreFaults {
  /**
   * Additional milliseconds of each call: a random whole number from `min` to `max`. A random part of it passes before the store receives the call and
   * the rest before the caller gets the result, so calls overtake each other and results may be stale. Commits still reach the store in
   * order, as the store contract requires. Default: no delay.
   */
  readonly delay?: { readonly min: number; readonly max: number };
  /**
   * Probability from 0 to 1 that a call rejects: one for all methods, or one for each named method. A rejected call does not reach the store. The
   * error is a {@link StoreError}: `busy` for methods that read, `busy` or `full` for methods that write. Default 0.
   */
  readonly failures?: number | Partial<Readonly<Record<StoreMethod, number>>>;
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

const WRITES: ReadonlySet<StoreMethod> = new Set(["commit", "heartbeat", "leave", "sweep", "health"]);

class RandomlyUnreliableStore implements UnreliableStore {
  readonly #store: Store;
  readonly #random: () => number;
  readonly #wait: (milliseconds: number) => Promise<void>;
  #faults: StoreFaults = {};
  #failed = 0;
  /** Settles when the last commit so far has reached the store or failed. */
  #lastCommit: Promise<void> = Promise.resolve();

  constructor(store: Store, { seed = 1, wait = realTime, ...faults }: UnreliableStoreOptions) {
    this.#store = store;
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

  commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const before = this.#lastCommit;
    const reached = createDeferred<void>();
    this.#lastCommit = reached.promise;
    return this.#call("commit", () => this.#store.commit(operations), { after: before, reached });
  }
  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#call("get", () => this.#store.get(id, options));
  }
  list(query: ListQuery): Promise<ListPage> {
    return this.#call("list", () => this.#store.list(query));
  }
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.#call("log", () => this.#store.log(id, after, maxBytes));
  }
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#call("history", () => this.#store.history(id, from, maxBytes));
  }
  inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#call("inbox", () => this.#store.inbox(id));
  }
  steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#call("steps", () => this.#store.steps(id));
  }
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.#call("findByMessage", () => this.#store.findByMessage(scope, messageId));
  }
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#call("webhooks", () => this.#store.webhooks(task));
  }
  unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]> {
    return this.#call("unheldWebhooks", () => this.#store.unheldWebhooks(limit));
  }
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#call("failedWebhooks", () => this.#store.failedWebhooks(query));
  }
  positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#call("positions", () => this.#store.positions(ids));
  }
  due(limit: number): Promise<readonly TaskId[]> {
    return this.#call("due", () => this.#store.due(limit));
  }
  nextWake(): Promise<number | undefined> {
    return this.#call("nextWake", () => this.#store.nextWake());
  }
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return this.#call("heartbeat", () => this.#store.heartbeat(node, leaseMs));
  }
  leave(node: string): Promise<void> {
    return this.#call("leave", () => this.#store.leave(node));
  }
  sweep(): Promise<number> {
    return this.#call("sweep", () => this.#store.sweep());
  }
  health(): Promise<void> {
    return this.#call("health", () => this.#store.health());
  }
  close(): Promise<void> {
    return this.#store.close();
  }

  async #call<T>(method: StoreMethod, work: () => Promise<T>, order?: Order): Promise<T> {
    // All random numbers are drawn before the first await, so only the order of calls decides.
    const { delay = { min: 0, max: 0 }, failures = 0 } = this.#faults;
    const total = delay.min + Math.floor(this.#random() * (delay.max - delay.min + 1));
    const before = Math.floor(this.#random() * (total + 1));
    const probability = typeof failures === "number" ? failures : (failures[method] ?? 0);
    const fails = this.#random() < probability;
    const code = this.#random() < 0.5 || !WRITES.has(method) ? "busy" : "full";
    if (before > 0) await this.#wait(before);
    if (order !== undefined) await order.after;
    // The result may be stale when the caller gets it.
    const answer = fails ? this.#fail(method, code) : work();
    order?.reached.resolve();
    if (total > before) {
      answer.catch(() => {});
      await this.#wait(total - before);
    }
    return answer;
  }

  #fail(method: StoreMethod, code: "busy" | "full"): Promise<never> {
    this.#failed += 1;
    return Promise.reject(new StoreError(code, `${method} failed on purpose (${code}).`));
  }
}

/** The position of a commit among the others. */
interface Order {
  readonly after: Promise<void>;
  readonly reached: Deferred<void>;
}

function checkFaults({ delay, failures = 0 }: StoreFaults): void {
  if (delay !== undefined) {
    const { min, max } = delay;
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || max < min)
      throw new RangeError("delay: min and max must be whole numbers of milliseconds, 0 <= min <= max.");
  }
  for (const probability of typeof failures === "number" ? [failures] : Object.values(failures)) {
    if (!(probability >= 0 && probability <= 1)) throw new RangeError("failures: a probability must be from 0 to 1.");
  }
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
