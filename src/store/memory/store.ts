import { createClock } from "../../internal/clock.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { isSameScope, type Scope } from "../../protocol/principal.ts";
import { CommitResults } from "../commit-results.ts";
import {
  type ClaimQuery,
  type CommitKey,
  type ContextValue,
  type DueTask,
  type DueTasks,
  type DueWebhook,
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type JournalRecord,
  type KnownTask,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type NodeClaims,
  type OperatorPage,
  type OperatorQuery,
  type Outcome,
  type Position,
  type Retention,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type StoreStatistics,
  type TaskChange,
  type TaskRecord,
  type WaitingEntry,
  type WebhookKey,
  type WebhookRecord,
} from "../contract.ts";
import { failedWebhooks } from "../failed-webhooks.ts";
import { changeOf } from "../task-change.ts";
import { listAllTasks, listTasks } from "./list-tasks.ts";
import { applyOperation } from "./operations.ts";
import { Tables } from "./tables.ts";
import { pageOf, recordOf } from "./task-record.ts";

export interface MemoryStoreOptions {
  /** Default: `maxTasks` 1000, `pruneCount` 100. */
  readonly retention?: Retention;
  /** The store's clock in milliseconds. Default: the system clock, read once and continued monotonically, so that setting it has no effect. */
  readonly now?: () => number;
}

/** A store in memory: its content ends with the process. A commit is applied before the call returns; its promise is already resolved. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}

const DEFAULT_RETENTION: Retention = { maxTasks: 1000, pruneCount: 100 };

class MemoryStore implements Store {
  readonly #tables: Tables;
  readonly #commits = new CommitResults();
  #closed = false;

  constructor({ retention = DEFAULT_RETENTION, now = createClock().now }: MemoryStoreOptions) {
    this.#tables = new Tables(retention, now);
  }

  async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    const tables = this.#open();
    const known = key && this.#commits.find(key);
    if (known !== undefined) return known;
    const outcomes = operations.map((operation) => applyOperation(tables, operation));
    if (key !== undefined) this.#commits.add(key, outcomes);
    return outcomes;
  }

  async get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    const row = this.#open().find(id);
    if (row === undefined) return undefined;
    if (options.scope !== undefined && !isSameScope(options.scope, row.create.scope)) return undefined;
    return recordOf(row, options);
  }

  async list(query: ListQuery): Promise<ListPage> {
    return listTasks(this.#open().ofScope(query.scope), query);
  }

  async listAll(query: OperatorQuery): Promise<OperatorPage> {
    return listAllTasks(this.#open().all(), query);
  }

  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return pageOf(this.#open().find(id)?.history ?? [], from, maxBytes);
  }

  async log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    const row = this.#open().find(id);
    return row === undefined ? [] : pageOf(row.log, Math.max(0, after + 1 - row.firstSeq), maxBytes);
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#open().find(id)?.inbox.slice() ?? [];
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    return Array.from(this.#open().find(id)?.steps.values() ?? []);
  }

  async journal(id: TaskId): Promise<readonly JournalRecord[]> {
    return Array.from(this.#open().find(id)?.journal.values() ?? []);
  }

  async contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    return this.#open().contexts.of(scope, contextId);
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    const row = this.#open().messages.latest(scope, messageId);
    if (row === undefined) return undefined;
    const { at, idempotency } = row.create;
    return { task: row.id, createdAt: at, ...(idempotency !== undefined && { digest: idempotency.digest }) };
  }

  async webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    const tables = this.#open();
    const row = tables.find(task);
    return row === undefined ? [] : tables.webhooks.of(row);
  }

  async failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return failedWebhooks(this.#open().webhooks.failed(), query);
  }

  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    const tables = this.#open();
    return ids.flatMap((id) => {
      const row = tables.find(id);
      return row === undefined ? [] : [{ id, seq: row.seq, ended: row.ended }];
    });
  }

  async changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    const tables = this.#open();
    return known.flatMap((task) => {
      const row = tables.find(task.id);
      if (row === undefined || row.seq <= task.after) return [];
      const later = row.log.slice(Math.max(0, task.after + 1 - row.firstSeq));
      return [changeOf(task, recordOf(row, { artifacts: false, history: messages }), later)];
    });
  }

  async claimDue({ node, agents, limit }: ClaimQuery): Promise<DueTasks> {
    const tables = this.#open();
    const tasks: DueTask[] = [];
    if (!tables.isLiving(node)) return { tasks };
    let nextWake: number | undefined;
    for (const row of tables.open()) {
      const { scope } = row.create;
      if (!agents.includes(scope.agent)) continue;
      if (tasks.length < limit && tables.isDue(row)) {
        const formerNode = row.node;
        row.node = node;
        row.epoch += 1;
        const { id, epoch, head, seq } = row;
        tasks.push({ id, scope, epoch, ...(formerNode !== undefined && { formerNode }), head, seq });
      }
      const { wakeAt } = row.head;
      if (wakeAt !== undefined && !tables.isHeld(row)) nextWake = Math.min(nextWake ?? wakeAt, wakeAt);
    }
    const others = tables.othersThan(node);
    return { tasks, others, ...(nextWake !== undefined && { nextWake }) };
  }

  async claimWebhooks({ node, agents, limit }: ClaimQuery): Promise<readonly DueWebhook[]> {
    const tables = this.#open();
    if (!tables.isLiving(node)) return [];
    const scopeOf = (webhook: WebhookKey): Scope | undefined => tables.find(webhook.task)?.create.scope;
    const isServed = (webhook: WebhookKey): boolean => agents.includes(scopeOf(webhook)?.agent ?? "");
    return tables.webhooks.claimUnheld(node, limit, isServed).flatMap((webhook) => {
      const scope = scopeOf(webhook);
      return scope === undefined ? [] : [{ webhook, scope }];
    });
  }

  async waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    const entries: WaitingEntry[] = [];
    for (const row of this.#open().open())
      if (row.node === node) for (const { id } of row.inbox) entries.push({ task: row.id, id });
    return entries;
  }

  async claimsOf(node: string): Promise<NodeClaims> {
    const tables = this.#open();
    const held = Array.from(tables.open()).filter((row) => row.node === node);
    const webhooks = Array.from(tables.webhooks.claimedBy(node), ({ task, id, epoch }) => ({ task, id, epoch }));
    return { tasks: held.map(({ id, epoch }) => ({ id, epoch })), webhooks };
  }

  async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return { now: this.#open().heartbeat(node, leaseMs) };
  }

  async leave(node: string): Promise<void> {
    this.#open().leave(node);
  }

  async sweep(): Promise<number> {
    return this.#open().sweep();
  }

  async health(): Promise<void> {
    this.#open();
  }

  async statistics(): Promise<StoreStatistics> {
    return this.#open().statistics();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #open(): Tables {
    if (this.#closed) throw new StoreError("closed", "The store is closed.");
    return this.#tables;
  }
}
