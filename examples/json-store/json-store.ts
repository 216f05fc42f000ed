import {
  type ClaimQuery,
  type CommitKey,
  type ContextId,
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
  type Scope,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskChange,
  type TaskId,
  type TaskRecord,
  type WaitingEntry,
  type WebhookRecord,
} from "palaver/store";
import { Database } from "./database.ts";
import { listAllTasks, listTasks } from "./list-tasks.ts";
import { applyOperation, findByMessage, isSameScope } from "./operations.ts";
import { bytesOf, firstBytes, recordOf, type TaskDocument } from "./task-document.ts";
import { hasFailed } from "./webhooks.ts";

export interface JsonStoreOptions {
  readonly retention?: Retention;
  readonly now?: () => number;
}

/** A store that keeps one JSON document per task. Each method runs to its end without waiting, so calls never overlap. */
export function createJsonStore({ retention = {}, now = Date.now }: JsonStoreOptions = {}): Store {
  return new JsonStore(new Database(retention, now));
}

class JsonStore implements Store {
  readonly #open: Database;
  /** The last commit of each writer. */
  readonly #commits = new Map<string, { readonly n: number; readonly outcomes: readonly Outcome[] }>();
  #isClosed = false;

  constructor(database: Database) {
    this.#open = database;
  }

  async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    const database = this.#database();
    const last = key && this.#commits.get(key.writer);
    if (key !== undefined && last !== undefined && key.n <= last.n) {
      if (key.n === last.n) return last.outcomes;
      throw new StoreError("lost", `Commit ${key.n} arrived after commit ${last.n}.`);
    }
    const outcomes = operations.map((operation) => applyOperation(database, operation));
    if (key !== undefined) this.#commits.set(key.writer, { n: key.n, outcomes });
    return outcomes;
  }

  async get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    const task = this.#database().task(id);
    if (task === undefined) return undefined;
    if (options.scope !== undefined && !isSameScope(options.scope, task.create.scope)) return undefined;
    return recordOf(task, options);
  }

  async list(query: ListQuery): Promise<ListPage> {
    return listTasks(this.#database(), query);
  }

  async listAll(query: OperatorQuery): Promise<OperatorPage> {
    return listAllTasks(this.#database(), query);
  }

  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    const history = this.#database().task(id)?.history ?? [];
    return firstBytes(history.slice(from), maxBytes, ({ body }) => body.length);
  }

  async log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    const database = this.#database();
    const task = database.task(id);
    return task === undefined ? [] : firstBytes(database.log(task, after), maxBytes, (entry) => bytesOf([entry]));
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#database().task(id)?.inbox ?? [];
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#database().task(id)?.steps ?? [];
  }

  async journal(id: TaskId): Promise<readonly JournalRecord[]> {
    return this.#database().task(id)?.journal ?? [];
  }

  async contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    return this.#database().context(scope, contextId).values;
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    const task = findByMessage(this.#database(), { scope, messageId }, Number.NEGATIVE_INFINITY);
    if (task === undefined) return undefined;
    const { at, idempotency } = task.create;
    return { task: task.id, createdAt: at, ...(idempotency !== undefined && { digest: idempotency.digest }) };
  }

  async webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#database().task(task)?.webhooks ?? [];
  }

  async failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    const { limit, task, before = Number.POSITIVE_INFINITY, beyond } = query;
    const key = (webhook: { readonly task: string; readonly id: string }): string => `${webhook.task}\n${webhook.id}`;
    return this.#allWebhooks()
      .filter(({ state }) => hasFailed(state))
      .filter((webhook) => task === undefined || webhook.task === task)
      .filter((webhook) => {
        const { failedAt = 0 } = webhook;
        return failedAt < before || (failedAt === before && beyond !== undefined && key(webhook) > key(beyond));
      })
      .sort((a, b) => (b.failedAt ?? 0) - (a.failedAt ?? 0) || (key(a) < key(b) ? -1 : 1))
      .slice(0, limit);
  }

  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    const database = this.#database();
    return ids.flatMap((id) => {
      const task = database.task(id);
      return task === undefined ? [] : [{ id, seq: task.seq, ended: task.endedAs !== undefined }];
    });
  }

  async changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    const database = this.#database();
    return known.flatMap(({ id, after, maxBytes }) => {
      const task = database.task(id);
      if (task === undefined || task.seq <= after) return [];
      const { head, seq, history } = recordOf(task, { artifacts: false, history: messages });
      const entries = database.log(task, after);
      const consumed = history.flatMap(({ inbox, after: seqBefore }) =>
        inbox === undefined ? [] : [{ inbox, after: seqBefore }],
      );
      const isWhole = entries[0]?.seq === after + 1 && entries.at(-1)?.seq === seq && bytesOf(entries) <= maxBytes;
      return [{ id, seq, head, consumed, ...(isWhole && { entries }) }];
    });
  }

  async claimDue({ node, agents, limit }: ClaimQuery): Promise<DueTasks> {
    const database = this.#database();
    if (!database.isLiving(node)) return { tasks: [] };
    const claimed: DueTask[] = [];
    let nextWake = Number.POSITIVE_INFINITY;
    for (const task of this.#openTasks()) {
      const { id, head, seq, create, node: formerNode } = task;
      const { scope } = create;
      if (!agents.includes(scope.agent) || database.isLiving(formerNode)) continue;
      const { active, wakeAt = Number.POSITIVE_INFINITY } = head;
      if (claimed.length < limit && (active || wakeAt <= database.now() || task.inbox.length > 0)) {
        task.node = node;
        task.epoch += 1;
        database.save(task);
        const { epoch } = task;
        claimed.push({ id, scope, epoch, ...(formerNode !== undefined && { formerNode }), head, seq });
      } else nextWake = Math.min(nextWake, wakeAt);
    }
    return { tasks: claimed, ...(Number.isFinite(nextWake) && { nextWake }) };
  }

  async claimWebhooks({ node, agents, limit }: ClaimQuery): Promise<readonly DueWebhook[]> {
    const database = this.#database();
    if (!database.isLiving(node)) return [];
    const found = database
      .tasks()
      .filter(({ create }) => agents.includes(create.scope.agent))
      .flatMap(({ create, webhooks }) => webhooks.map((webhook) => ({ webhook, scope: create.scope })))
      .filter(({ webhook }) => webhook.state === "active" && !database.isLiving(webhook.node))
      .sort((a, b) => a.webhook.nextAt - b.webhook.nextAt)
      .slice(0, limit);
    return found.map(({ webhook: { task, id, ...rest }, scope }) => {
      const outcome = applyOperation(database, { kind: "webhook-claim", task, id, node });
      const epoch = outcome.status === "ok" ? (outcome.epoch ?? 0) : 0;
      return { webhook: { task, id, ...rest, node, epoch }, scope };
    });
  }

  async waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    const held = this.#openTasks().filter((task) => task.node === node);
    return held.flatMap((task) => task.inbox.map(({ id }) => ({ task: task.id, id })));
  }

  async claimsOf(node: string): Promise<NodeClaims> {
    const tasks = this.#openTasks().filter((task) => task.node === node);
    const webhooks = this.#allWebhooks().filter((webhook) => webhook.node === node);
    return {
      tasks: tasks.map(({ id, epoch }) => ({ id, epoch })),
      webhooks: webhooks.map(({ task, id, epoch }) => ({ task, id, epoch })),
    };
  }

  async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    return { now: this.#database().heartbeat(node, leaseMs) };
  }

  async leave(node: string): Promise<void> {
    this.#database().leave(node);
  }

  async sweep(): Promise<number> {
    return this.#database().sweep();
  }

  async health(): Promise<void> {
    this.#database();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #openTasks(): TaskDocument[] {
    return this.#database()
      .tasks()
      .filter(({ endedAs }) => endedAs === undefined);
  }

  #allWebhooks(): WebhookRecord[] {
    return this.#database()
      .tasks()
      .flatMap(({ webhooks }) => webhooks);
  }

  #database(): Database {
    if (this.#isClosed) throw new StoreError("closed", "The store is closed.");
    return this.#open;
  }
}
