import { createDeferred, type Deferred } from "../internal/deferred.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type {
  FailedWebhooksQuery,
  GetOptions,
  HistoryEntry,
  InboxEntry,
  ListPage,
  ListQuery,
  LogEntry,
  MessageTrace,
  Outcome,
  Position,
  StepRecord,
  Store,
  StoreOperation,
  TaskRecord,
  WebhookRecord,
} from "../store/contract.ts";

/**
 * One engine's handle on a store that several engines may share. A test can hold commits, make them fail, or cut the handle off as if the
 * process had died, and can read the operations of every commit.
 */
export class ControlledStore implements Store {
  /** The operations of every commit that reached the store or failed, in order. Retries are listed again. */
  readonly commits: (readonly StoreOperation[])[] = [];
  /** The outcome of every operation, in order. */
  readonly outcomes: Outcome["status"][] = [];
  readonly #inner: Store;
  readonly #failures: unknown[] = [];
  #failAlways: unknown;
  #hold: { readonly released: Deferred<void>; readonly applied: boolean } | undefined;
  #heldCommits = 0;
  #reads = 0;
  #cut = false;

  constructor(inner: Store) {
    this.#inner = inner;
  }

  /** The number of commits that wait for `release`. */
  get held(): number {
    return this.#heldCommits;
  }

  /** The number of calls of `log`. */
  get logReads(): number {
    return this.#reads;
  }

  /** Commits wait until `release`. With `applied` the store applies them first, and only the answer waits. */
  hold(options: { readonly applied?: boolean } = {}): void {
    this.#hold ??= { released: createDeferred<void>(), applied: options.applied === true };
  }

  release(): void {
    this.#hold?.released.resolve();
    this.#hold = undefined;
  }

  /** The next commits reject, each with the next of these errors. */
  failNext(...errors: readonly unknown[]): void {
    this.#failures.push(...errors);
  }

  /** All commits and heartbeats reject with this error; `undefined` stops that. */
  failAlways(error: unknown): void {
    this.#failAlways = error;
  }

  /** From now on calls of this handle change nothing and never settle. */
  cut(): void {
    this.#cut = true;
    this.#hold = undefined;
  }

  async commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const hold = this.#hold;
    if (hold !== undefined && !hold.applied) await this.#untilReleased(hold.released);
    if (this.#cut) return never();
    this.commits.push(operations);
    const failure = this.#failures.shift() ?? this.#failAlways;
    if (failure !== undefined) throw failure;
    const outcomes = await this.#inner.commit(operations);
    for (const { status } of outcomes) this.outcomes.push(status);
    if (hold?.applied === true) await this.#untilReleased(hold.released);
    return this.#cut ? never() : outcomes;
  }

  async #untilReleased(released: Deferred<void>): Promise<void> {
    this.#heldCommits += 1;
    await released.promise;
    this.#heldCommits -= 1;
  }

  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#answer(() => this.#inner.get(id, options));
  }
  list(query: ListQuery): Promise<ListPage> {
    return this.#answer(() => this.#inner.list(query));
  }
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#answer(() => this.#inner.history(id, from, maxBytes));
  }
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    this.#reads += 1;
    return this.#answer(() => this.#inner.log(id, after, maxBytes));
  }
  inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#answer(() => this.#inner.inbox(id));
  }
  steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#answer(() => this.#inner.steps(id));
  }
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.#answer(() => this.#inner.findByMessage(scope, messageId));
  }
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#answer(() => this.#inner.webhooks(task));
  }
  unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]> {
    return this.#answer(() => this.#inner.unheldWebhooks(limit));
  }
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#answer(() => this.#inner.failedWebhooks(query));
  }
  positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#answer(() => this.#inner.positions(ids));
  }
  due(limit: number): Promise<readonly TaskId[]> {
    return this.#answer(() => this.#inner.due(limit));
  }
  nextWake(): Promise<number | undefined> {
    return this.#answer(() => this.#inner.nextWake());
  }
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return this.#answer(() => {
      if (this.#failAlways !== undefined) throw this.#failAlways;
      return this.#inner.heartbeat(node, leaseMs);
    });
  }
  leave(node: string): Promise<void> {
    return this.#answer(() => this.#inner.leave(node));
  }
  sweep(): Promise<number> {
    return this.#answer(() => this.#inner.sweep());
  }
  health(): Promise<void> {
    return this.#answer(() => this.#inner.health());
  }
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#cut) return never();
    const answer = await ask();
    return this.#cut ? never() : answer;
  }
}

/** The answer that a dead process gets: none. */
function never(): Promise<never> {
  return new Promise(() => {});
}
