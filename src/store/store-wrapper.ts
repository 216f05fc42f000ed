import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type {
  ClaimedTask,
  ClaimQuery,
  CommitKey,
  ContextValue,
  DueTasks,
  DueWebhook,
  FailedWebhooksQuery,
  GetOptions,
  HistoryEntry,
  InboxEntry,
  JournalRecord,
  KnownTask,
  ListPage,
  ListQuery,
  LogEntry,
  MessageTrace,
  NodeClaims,
  OperatorPage,
  OperatorQuery,
  Outcome,
  Position,
  StepRecord,
  Store,
  StoreOperation,
  TaskChange,
  TaskRecord,
  WaitingEntry,
  WebhookRecord,
} from "./contract.ts";

/** The methods of a store that reach the database. */
export type StoreMethod = Exclude<keyof Store, "close" | "statistics" | "report">;

/** A store that passes every call to another store. A subclass changes what happens around the calls. */
export abstract class StoreWrapper implements Store {
  readonly #store: Store;
  /** Present if the other store has it. */
  readonly claimed?: (ids: readonly TaskId[], maxBytes: number) => Promise<readonly ClaimedTask[]>;

  constructor(store: Store) {
    this.#store = store;
    const { claimed } = store;
    if (claimed !== undefined)
      this.claimed = (ids, maxBytes) => this.around("claimed", () => claimed.call(store, ids, maxBytes));
  }

  /** Called for every call but `close`. `call` calls the store; it may be called several times, or never. */
  protected abstract around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T>;

  commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    return this.around("commit", () => this.#store.commit(operations, key));
  }
  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.around("get", () => this.#store.get(id, options));
  }
  list(query: ListQuery): Promise<ListPage> {
    return this.around("list", () => this.#store.list(query));
  }
  listAll(query: OperatorQuery): Promise<OperatorPage> {
    return this.around("listAll", () => this.#store.listAll(query));
  }
  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.around("history", () => this.#store.history(id, from, maxBytes));
  }
  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.around("log", () => this.#store.log(id, after, maxBytes));
  }
  inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.around("inbox", () => this.#store.inbox(id));
  }
  steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.around("steps", () => this.#store.steps(id));
  }
  journal(id: TaskId): Promise<readonly JournalRecord[]> {
    return this.around("journal", () => this.#store.journal(id));
  }
  contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    return this.around("contextValues", () => this.#store.contextValues(scope, contextId));
  }
  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.around("findByMessage", () => this.#store.findByMessage(scope, messageId));
  }
  webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.around("webhooks", () => this.#store.webhooks(task));
  }
  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.around("failedWebhooks", () => this.#store.failedWebhooks(query));
  }
  positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.around("positions", () => this.#store.positions(ids));
  }
  changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    return this.around("changes", () => this.#store.changes(known, messages));
  }
  claimDue(query: ClaimQuery): Promise<DueTasks> {
    return this.around("claimDue", () => this.#store.claimDue(query));
  }
  claimWebhooks(query: ClaimQuery): Promise<readonly DueWebhook[]> {
    return this.around("claimWebhooks", () => this.#store.claimWebhooks(query));
  }
  waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    return this.around("waitingEntries", () => this.#store.waitingEntries(node));
  }
  claimsOf(node: string): Promise<NodeClaims> {
    return this.around("claimsOf", () => this.#store.claimsOf(node));
  }
  heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return this.around("heartbeat", () => this.#store.heartbeat(node, leaseMs));
  }
  leave(node: string): Promise<void> {
    return this.around("leave", () => this.#store.leave(node));
  }
  sweep(): Promise<number> {
    return this.around("sweep", () => this.#store.sweep());
  }
  health(): Promise<void> {
    return this.around("health", () => this.#store.health());
  }
  close(): Promise<void> {
    return this.#store.close();
  }
}
