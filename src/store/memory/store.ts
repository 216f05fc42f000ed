import { createClock } from "../../internal/clock.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isSameScope, type Scope } from "../../protocol/principal.ts";
import { readEvent } from "../../protocol/serial.ts";
import {
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type InboxPost,
  type LeaseClaim,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type Outcome,
  type Position,
  type Retention,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskCreate,
  type TaskRecord,
  type TaskWrite,
  type WebhookRecord,
} from "../contract.ts";
import { failedWebhooks } from "../failed-webhooks.ts";
import { DUPLICATE, ENDED, FENCED, FULL, NOT_FOUND, OK } from "../outcomes.ts";
import { MessageIndex } from "./message-index.ts";
import { applyWrite, isContiguous, newRow, type TaskRow } from "./task-row.ts";
import { Webhooks } from "./webhooks.ts";

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
const DEFAULT_PRUNE_COUNT = 100;
/** Maximum number of tasks that one sweep changes, so that it blocks the event loop only briefly. */
const SWEEP_TASKS = 500;

class MemoryStore implements Store {
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #tasks = new Map<TaskId, TaskRow>();
  readonly #open = new Set<TaskRow>();
  /** In the order they ended. */
  readonly #finished = new Set<TaskRow>();
  readonly #scopes = new Map<string, Set<TaskRow>>();
  readonly #messages = new MessageIndex();
  readonly #webhooks = new Webhooks((node) => this.#isLiving(node));
  /** When each node's lease expires. */
  readonly #nodes = new Map<string, number>();
  #closed = false;

  constructor(options: MemoryStoreOptions) {
    this.#retention = options.retention ?? DEFAULT_RETENTION;
    this.#now = options.now ?? createClock().now;
  }

  async commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    this.#mustBeOpen();
    return operations.map((operation) => this.#apply(operation));
  }

  async get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    this.#mustBeOpen();
    const row = this.#tasks.get(id);
    if (row === undefined) return undefined;
    if (options.scope !== undefined && !isSameScope(options.scope, row.create.scope)) return undefined;
    return recordOf(row, options);
  }

  async list(query: ListQuery): Promise<ListPage> {
    this.#mustBeOpen();
    const { contextId, state, statusSince, before, limit } = query;
    const matching = Array.from(this.#scopes.get(scopeKey(query.scope)) ?? []).filter(
      ({ create, head }) =>
        (contextId === undefined || create.contextId === contextId) &&
        (state === undefined || head.state === state) &&
        (statusSince === undefined || head.statusAt >= statusSince),
    );
    const following = before === undefined ? matching : matching.filter((row) => comesAfter(row, before));
    following.sort(newestFirst);
    const rows = firstBytes(following.slice(0, limit), query);
    const last = rows.at(-1);
    return {
      tasks: rows.map((row) => recordOf(row, query)),
      total: matching.length,
      ...(last !== undefined && following.length > rows.length && { next: { at: last.head.statusAt, id: last.id } }),
    };
  }

  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    this.#mustBeOpen();
    const history = this.#tasks.get(id)?.history ?? [];
    let to = from;
    let bytes = 0;
    for (let entry = history[to]; entry !== undefined; entry = history[++to]) {
      bytes += entry.body.length;
      if (to > from && bytes > maxBytes) break;
    }
    return history.slice(from, to);
  }

  async log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    this.#mustBeOpen();
    const row = this.#tasks.get(id);
    if (row === undefined) return [];
    const from = Math.max(0, after + 1 - row.firstSeq);
    let to = from;
    let bytes = 0;
    for (let entry = row.log[to]; entry !== undefined; entry = row.log[++to]) {
      bytes += entry.body.length;
      if (to > from && bytes > maxBytes) break;
    }
    return row.log.slice(from, to);
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    this.#mustBeOpen();
    return this.#tasks.get(id)?.inbox.slice() ?? [];
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    this.#mustBeOpen();
    return Array.from(this.#tasks.get(id)?.steps.values() ?? []);
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    this.#mustBeOpen();
    const row = this.#messages.latest(scope, messageId);
    if (row === undefined) return undefined;
    const { at, idempotency } = row.create;
    return { task: row.id, createdAt: at, ...(idempotency !== undefined && { digest: idempotency.digest }) };
  }

  async webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    this.#mustBeOpen();
    const row = this.#tasks.get(task);
    return row === undefined ? [] : this.#webhooks.of(row);
  }

  async unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]> {
    this.#mustBeOpen();
    return this.#webhooks.unheld(limit);
  }

  async failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    this.#mustBeOpen();
    return failedWebhooks(this.#webhooks.failed(), query);
  }

  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    this.#mustBeOpen();
    return ids.flatMap((id) => {
      const row = this.#tasks.get(id);
      return row === undefined ? [] : [{ id, seq: row.seq, ended: row.ended }];
    });
  }

  async due(limit: number): Promise<readonly TaskId[]> {
    this.#mustBeOpen();
    const now = this.#now();
    const due: TaskId[] = [];
    for (const row of this.#open) {
      if (due.length >= limit) break;
      if (this.#isHeld(row)) continue;
      const { active, wakeAt } = row.head;
      if (active || (wakeAt !== undefined && wakeAt <= now) || row.inbox.length > 0) due.push(row.id);
    }
    return due;
  }

  async nextWake(): Promise<number | undefined> {
    this.#mustBeOpen();
    let earliest: number | undefined;
    for (const row of this.#open) {
      const { wakeAt } = row.head;
      if (wakeAt === undefined || (earliest !== undefined && earliest <= wakeAt) || this.#isHeld(row)) continue;
      earliest = wakeAt;
    }
    return earliest;
  }

  async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    this.#mustBeOpen();
    const now = this.#now();
    this.#nodes.set(node, now + leaseMs);
    return { now };
  }

  async leave(node: string): Promise<void> {
    this.#mustBeOpen();
    this.#nodes.delete(node);
    for (const row of this.#open) if (row.node === node) row.node = undefined;
    this.#webhooks.leave(node);
  }

  async sweep(): Promise<number> {
    this.#mustBeOpen();
    const { maxAge, logAge, maxTasks } = this.#retention;
    const now = this.#now();
    const excess = maxTasks === undefined ? 0 : this.#tasks.size - maxTasks;
    let changed = excess > 0 ? this.#prune(Math.min(excess, SWEEP_TASKS)) : 0;
    for (const row of this.#finished) {
      if (changed >= SWEEP_TASKS) break;
      const age = now - row.head.statusAt;
      const isExpired = maxAge !== undefined && age > maxAge;
      const hasOldLog = logAge !== undefined && age > logAge && row.firstSeq <= row.seq;
      if ((!isExpired && !hasOldLog) || this.#webhooks.hasActive(row)) continue;
      if (isExpired) this.#delete(row);
      else dropLog(row);
      changed += 1;
    }
    return changed;
  }

  async health(): Promise<void> {
    this.#mustBeOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new StoreError("closed", "The store is closed.");
  }

  #apply(operation: StoreOperation): Outcome {
    if (operation.kind === "write") return this.#write(operation);
    const row = this.#tasks.get(operation.task);
    if (row === undefined) return NOT_FOUND;
    if (operation.kind === "post" || operation.kind === "claim") {
      if (row.ended) return ENDED;
      return operation.kind === "post" ? post(row, operation) : this.#claim(row, operation);
    }
    if (operation.kind === "webhook-set" && !isSameScope(operation.scope, row.create.scope)) return NOT_FOUND;
    return this.#webhooks.apply(row, operation);
  }

  #write(write: TaskWrite): Outcome {
    if (write.create !== undefined) return this.#create(write, write.create);
    const row = this.#tasks.get(write.task);
    if (row === undefined) return NOT_FOUND;
    if (row.ended) return ENDED;
    if (row.node === undefined || row.epoch !== write.epoch || !isContiguous(row.seq, write)) return FENCED;
    return this.#applied(row, applyWrite(row, write));
  }

  #create(write: TaskWrite, create: TaskCreate): Outcome {
    const { task } = write;
    const { scope, messageId, idempotency, webhook } = create;
    if (idempotency !== undefined && messageId !== undefined) {
      const earlier = this.#messages.latest(scope, messageId, idempotency.since);
      if (earlier !== undefined) return { status: "repeated", task: earlier.id };
    }
    if (this.#tasks.has(task)) return DUPLICATE;
    const row = newRow(task, create, write);
    if (row === undefined || write.epoch !== 1 || !isContiguous(0, write)) return FENCED;
    if (!this.#makeRoom()) return FULL;
    this.#tasks.set(task, row);
    this.#open.add(row);
    const key = scopeKey(scope);
    const rows = this.#scopes.get(key);
    if (rows === undefined) this.#scopes.set(key, new Set([row]));
    else rows.add(row);
    this.#messages.add(row);
    if (webhook !== undefined) this.#webhooks.begin(row, webhook);
    return this.#applied(row, applyWrite(row, write));
  }

  #applied(row: TaskRow, outcome: Outcome): Outcome {
    if (row.ended) {
      this.#open.delete(row);
      this.#finished.add(row);
    }
    return outcome;
  }

  #claim(row: TaskRow, claim: LeaseClaim): Outcome {
    if (!claim.force && row.node !== undefined && this.#isHeld(row)) return { status: "held", node: row.node };
    row.node = claim.node;
    row.epoch += 1;
    return { status: "ok", epoch: row.epoch };
  }

  #isHeld(row: TaskRow): boolean {
    return row.node !== undefined && this.#isLiving(row.node);
  }

  #isLiving(node: string): boolean {
    return (this.#nodes.get(node) ?? 0) > this.#now();
  }

  /** Deletes tasks if needed so that another one can be stored; false if that is impossible. */
  #makeRoom(): boolean {
    const { maxTasks, pruneCount = DEFAULT_PRUNE_COUNT } = this.#retention;
    return maxTasks === undefined || this.#tasks.size < maxTasks || this.#prune(pruneCount) > 0;
  }

  #prune(count: number): number {
    let deleted = 0;
    for (const row of this.#finished) {
      if (deleted >= count) break;
      if (this.#webhooks.hasActive(row)) continue;
      this.#delete(row);
      deleted += 1;
    }
    return deleted;
  }

  #delete(row: TaskRow): void {
    const { scope } = row.create;
    this.#finished.delete(row);
    this.#tasks.delete(row.id);
    const key = scopeKey(scope);
    const rows = this.#scopes.get(key);
    rows?.delete(row);
    if (rows?.size === 0) this.#scopes.delete(key);
    this.#messages.delete(row);
    this.#webhooks.drop(row);
  }
}

function post(row: TaskRow, { entry, maxWaiting }: InboxPost): Outcome {
  let waiting = 0;
  for (const other of row.inbox) {
    if (other.id === entry.id) return DUPLICATE;
    if (other.kind === "message") waiting += 1;
  }
  if (entry.kind === "message" && waiting >= maxWaiting) return FULL;
  row.inbox.push(entry);
  return row.node === undefined ? OK : { status: "ok", node: row.node };
}

/** Deletes the events of a finished task, after computing its artifacts from them. */
function dropLog(row: TaskRow): void {
  if (row.artifacts === undefined) {
    const fold = new ArtifactFold();
    for (const entry of row.log) fold.add(readEvent(entry.body));
    row.artifacts = JSON.stringify(fold.artifacts());
  }
  row.log = [];
  row.firstSeq = row.seq + 1;
}

/** The first rows that together have at most `maxBytes` bytes; at least one. */
function firstBytes(rows: readonly TaskRow[], query: ListQuery): readonly TaskRow[] {
  const { maxBytes } = query;
  if (maxBytes === undefined) return rows;
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += bytesOf(row, query);
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Approximate bytes of a record that is read with these options. */
function bytesOf(row: TaskRow, options: Pick<ListQuery, "artifacts" | "history">): number {
  const { status, metadata = "" } = row.head;
  const { from, to } = historyRange(row.history, options);
  let bytes = status.length + metadata.length + bodyBytes(row.history.slice(from, to));
  if (options.artifacts) bytes += row.artifacts?.length ?? bodyBytes(row.log);
  return bytes;
}

function bodyBytes(entries: Iterable<{ readonly body: string }>): number {
  let bytes = 0;
  for (const { body } of entries) bytes += body.length;
  return bytes;
}

function recordOf(row: TaskRow, options: Omit<GetOptions, "scope">): TaskRecord {
  const { create } = row;
  const { largeBytes = Number.POSITIVE_INFINITY } = options;
  // Without the log, the artifacts cannot be computed again: never leave them out.
  const keepsArtifacts = row.firstSeq > 1 || (row.artifacts?.length ?? 0) <= largeBytes;
  const artifacts = options.artifacts && keepsArtifacts ? row.artifacts : undefined;
  const range = historyRange(row.history, options);
  const history = row.history.slice(range.from, range.to);
  const isLarge = bodyBytes(history) > largeBytes;
  return {
    id: row.id,
    contextId: create.contextId,
    scope: create.scope,
    dialect: create.dialect,
    createdAt: create.at,
    head: row.head,
    seq: row.seq,
    firstSeq: row.firstSeq,
    epoch: row.epoch,
    ...(row.node !== undefined && { node: row.node }),
    history: isLarge ? [] : history,
    ...(isLarge && { largeHistory: range }),
    ...(artifacts !== undefined && { artifacts }),
  };
}

/** The range of requested messages. `after` never falls from one message to the next. */
function historyRange(
  history: readonly HistoryEntry[],
  { history: limit, upTo }: Pick<GetOptions, "history" | "upTo">,
): { readonly from: number; readonly to: number } {
  const hidden = upTo === undefined ? -1 : history.findIndex((entry) => entry.after > upTo);
  const to = hidden === -1 ? history.length : hidden;
  return { from: limit === undefined ? 0 : Math.max(0, to - limit), to };
}

function newestFirst(a: TaskRow, b: TaskRow): number {
  return b.head.statusAt - a.head.statusAt || (a.id < b.id ? 1 : -1);
}

function comesAfter(row: TaskRow, cursor: { readonly at: number; readonly id: string }): boolean {
  const { statusAt } = row.head;
  return statusAt < cursor.at || (statusAt === cursor.at && row.id < cursor.id);
}

function scopeKey({ agent, tenant, owner }: Scope): string {
  return JSON.stringify([agent, tenant, owner]);
}
