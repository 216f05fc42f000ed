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
 * One engine's handle on a store that several may share. Its commits can be held back, made to fail, or cut off for good, as
 * if the process behind it had died; what it was asked to commit is kept to look at.
 */
export class ControlledStore implements Store {
  /** The operations of every commit that reached the store or failed there, in order; tries again count again. */
  readonly commits: (readonly StoreOperation[])[] = [];
  /** What came of every operation, in order. */
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

  /** How many commits wait to be released. */
  get held(): number {
    return this.#heldCommits;
  }

  /** How often the log was read. */
  get logReads(): number {
    return this.#reads;
  }

  /** Commits wait until `release`; with `applied` they are in the store already, and only the answer waits. */
  hold(options: { readonly applied?: boolean } = {}): void {
    this.#hold ??= { released: createDeferred<void>(), applied: options.applied === true };
  }

  release(): void {
    this.#hold?.released.resolve();
    this.#hold = undefined;
  }

  /** The next commits reject, one with each of these. */
  failNext(...errors: readonly unknown[]): void {
    this.#failures.push(...errors);
  }

  /** All commits and heartbeats reject with this; `undefined`: no more. */
  failAlways(error: unknown): void {
    this.#failAlways = error;
  }

  /** Whoever uses this handle gets no answer any more, and changes nothing. */
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

/** What a process that died hears. */
function never(): Promise<never> {
  return new Promise(() => {});
}
