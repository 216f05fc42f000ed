import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import { artifactsOfLog } from "../artifacts-of-log.ts";
import type { Retention, StoreStatistics } from "../contract.ts";
import { nodeStatistics, noTasks } from "../statistics.ts";
import { ContextValues } from "./context-values.ts";
import { MessageIndex } from "./message-index.ts";
import type { TaskRow } from "./task-row.ts";
import { Webhooks } from "./webhooks.ts";

const DEFAULT_PRUNE_COUNT = 100;
/** Maximum number of tasks that one sweep changes, so that it blocks the event loop only briefly. */
const SWEEP_TASKS = 500;
const NO_ROWS: ReadonlySet<TaskRow> = new Set();

/** Everything that the memory store contains, with its indexes. */
export class Tables {
  readonly messages: MessageIndex = new MessageIndex();
  readonly contexts: ContextValues = new ContextValues();
  readonly webhooks: Webhooks;
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #tasks = new Map<TaskId, TaskRow>();
  readonly #open = new Set<TaskRow>();
  /** In the order they ended. */
  readonly #finished = new Set<TaskRow>();
  readonly #scopes = new Map<string, Set<TaskRow>>();
  /** When each node's lease expires. */
  readonly #nodes = new Map<string, number>();

  constructor(retention: Retention, now: () => number) {
    this.#retention = retention;
    this.#now = now;
    this.webhooks = new Webhooks((node) => this.isLiving(node));
  }

  /** In the order they were created. */
  all(): Iterable<TaskRow> {
    return this.#tasks.values();
  }

  /** The tasks that have not ended, in the order they were created. */
  open(): Iterable<TaskRow> {
    return this.#open;
  }

  find(id: TaskId): TaskRow | undefined {
    return this.#tasks.get(id);
  }

  ofScope(scope: Scope): ReadonlySet<TaskRow> {
    return this.#scopes.get(scopeKey(scope)) ?? NO_ROWS;
  }

  add(row: TaskRow): void {
    this.#tasks.set(row.id, row);
    this.#open.add(row);
    const key = scopeKey(row.create.scope);
    const rows = this.#scopes.get(key);
    if (rows === undefined) this.#scopes.set(key, new Set([row]));
    else rows.add(row);
    this.messages.add(row);
  }

  /** The task has ended. */
  finish(row: TaskRow): void {
    this.#open.delete(row);
    this.#finished.add(row);
  }

  heartbeat(node: string, leaseMs: number): number {
    const now = this.#now();
    this.#nodes.set(node, now + leaseMs);
    return now;
  }

  leave(node: string): void {
    this.#nodes.delete(node);
    for (const row of this.#open) if (row.node === node) row.node = undefined;
    this.webhooks.leave(node);
  }

  /** How many nodes but this one are living. */
  othersThan(node: string): number {
    return Array.from(this.#nodes.keys()).filter((id) => id !== node && this.isLiving(id)).length;
  }

  isLiving(node: string): boolean {
    return (this.#nodes.get(node) ?? 0) > this.#now();
  }

  /** A living node holds the lease of the task. */
  isHeld(row: TaskRow): boolean {
    return row.node !== undefined && this.isLiving(row.node);
  }

  /** A node must claim the task: see `Store.claimDue`. */
  isDue(row: TaskRow): boolean {
    if (this.isHeld(row)) return false;
    const { active, wakeAt } = row.head;
    return active || (wakeAt !== undefined && wakeAt <= this.#now()) || row.inbox.length > 0;
  }

  /** See `Store.statistics`. */
  statistics(): StoreStatistics {
    const tasks = noTasks();
    const held = new Map<string, number>();
    let parked = 0;
    for (const { head } of this.#tasks.values()) tasks[head.state] += 1;
    for (const { head, node } of this.#open) {
      if (node !== undefined) held.set(node, (held.get(node) ?? 0) + 1);
      else if (!head.active) parked += 1;
    }
    return { tasks, parked, nodes: nodeStatistics(held, this.#nodes) };
  }

  /** Deletes tasks if needed so that another one can be stored; false if that is impossible. */
  makeRoom(): boolean {
    const { maxTasks, pruneCount = DEFAULT_PRUNE_COUNT } = this.#retention;
    return maxTasks === undefined || this.#tasks.size < maxTasks || this.#prune(pruneCount) > 0;
  }

  /** Applies the retention policy to at most 500 tasks; returns how many were changed. */
  sweep(): number {
    const { maxAge, logAge, maxTasks } = this.#retention;
    const now = this.#now();
    const excess = maxTasks === undefined ? 0 : this.#tasks.size - maxTasks;
    let changed = excess > 0 ? this.#prune(Math.min(excess, SWEEP_TASKS)) : 0;
    for (const row of this.#finished) {
      if (changed >= SWEEP_TASKS) break;
      const age = now - row.head.statusAt;
      const isExpired = maxAge !== undefined && age > maxAge;
      const hasOldLog = logAge !== undefined && age > logAge && row.firstSeq <= row.seq;
      if ((!isExpired && !hasOldLog) || this.webhooks.hasActive(row)) continue;
      if (isExpired) this.#delete(row);
      else dropLog(row);
      changed += 1;
    }
    return changed;
  }

  #prune(count: number): number {
    let deleted = 0;
    for (const row of this.#finished) {
      if (deleted >= count) break;
      if (this.webhooks.hasActive(row)) continue;
      this.#delete(row);
      deleted += 1;
    }
    return deleted;
  }

  #delete(row: TaskRow): void {
    const { scope, contextId } = row.create;
    this.#finished.delete(row);
    this.#tasks.delete(row.id);
    const key = scopeKey(scope);
    const rows = this.#scopes.get(key);
    rows?.delete(row);
    if (rows?.size === 0) this.#scopes.delete(key);
    this.messages.delete(row);
    this.webhooks.drop(row);
    if (this.contexts.has(scope, contextId) && !hasContext(rows ?? NO_ROWS, contextId))
      this.contexts.delete(scope, contextId);
  }
}

function hasContext(rows: Iterable<TaskRow>, contextId: string): boolean {
  for (const { create } of rows) if (create.contextId === contextId) return true;
  return false;
}

/** Deletes the events and the journal of a finished task, after computing its artifacts from the events. */
function dropLog(row: TaskRow): void {
  row.artifacts ??= artifactsOfLog(row.log);
  row.log = [];
  row.firstSeq = row.seq + 1;
  row.journal.clear();
}

function scopeKey({ agent, tenant, owner }: Scope): string {
  return JSON.stringify([agent, tenant, owner]);
}
