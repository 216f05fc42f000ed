import {
  artifactsOfLog,
  type ContextId,
  type ContextValue,
  type LogEntry,
  type Retention,
  type Scope,
  type TaskId,
} from "palaver/store";
import type { TaskDocument } from "./task-document.ts";
import type { WebhookParts } from "./webhooks.ts";

interface ContextDocument {
  changes: number;
  values: ContextValue[];
}

/** Everything that the store contains, as JSON texts. A store of your own reads and writes its database here. */
export class Database implements WebhookParts {
  readonly #tasks = new Map<string, string>();
  readonly #logs = new Map<string, string[]>();
  readonly #contexts = new Map<string, string>();
  /** When each node's lease expires. */
  readonly #nodes = new Map<string, number>();
  readonly #retention: Retention;
  readonly now: () => number;
  #count = 0;

  constructor(retention: Retention, now: () => number) {
    this.#retention = retention;
    this.now = now;
  }

  /** In the order they were created. */
  tasks(): TaskDocument[] {
    return Array.from(this.#tasks.values(), readTask);
  }

  task(id: TaskId): TaskDocument | undefined {
    const text = this.#tasks.get(id);
    return text === undefined ? undefined : readTask(text);
  }

  save(task: TaskDocument): void {
    this.#tasks.set(task.id, JSON.stringify(task));
  }

  log({ id, firstSeq }: TaskDocument, after: number): LogEntry[] {
    const lines = this.#logs.get(id) ?? [];
    return lines.slice(Math.max(0, after + 1 - firstSeq)).map((line) => JSON.parse(line) as LogEntry);
  }

  append(id: TaskId, entries: readonly LogEntry[]): void {
    const lines = this.#logs.get(id) ?? [];
    for (const entry of entries) lines.push(JSON.stringify(entry));
    this.#logs.set(id, lines);
  }

  context(scope: Scope, contextId: ContextId): ContextDocument {
    const text = this.#contexts.get(contextKey(scope, contextId));
    return text === undefined ? { changes: 0, values: [] } : (JSON.parse(text) as ContextDocument);
  }

  saveContext(scope: Scope, contextId: ContextId, context: ContextDocument): void {
    this.#contexts.set(contextKey(scope, contextId), JSON.stringify(context));
  }

  heartbeat(node: string, leaseMs: number): number {
    this.#nodes.set(node, this.now() + leaseMs);
    return this.now();
  }

  leave(node: string): void {
    this.#nodes.delete(node);
    for (const task of this.tasks()) {
      if (task.node === node) delete task.node;
      task.webhooks = task.webhooks.map((webhook) => {
        const { node: claimant, ...unclaimed } = webhook;
        return claimant === node ? unclaimed : webhook;
      });
      this.save(task);
    }
  }

  isLiving = (node: string | undefined): boolean => node !== undefined && (this.#nodes.get(node) ?? 0) > this.now();

  nextEpoch = (): number => ++this.#count;

  /** The place of a task that ends now among those that have ended. */
  nextEnd(): number {
    return ++this.#count;
  }

  /** Deletes tasks if needed so that another one can be stored; false if that is impossible. */
  makeRoom(): boolean {
    const { maxTasks = Number.POSITIVE_INFINITY, pruneCount = 100 } = this.#retention;
    if (this.#tasks.size < maxTasks) return true;
    const oldest = this.#finished().slice(0, pruneCount);
    for (const task of oldest) this.#delete(task);
    return oldest.length > 0;
  }

  /** Applies the retention policy to at most 500 tasks; returns how many were changed. */
  sweep(): number {
    const { maxTasks = Number.POSITIVE_INFINITY, maxAge = Number.POSITIVE_INFINITY } = this.#retention;
    const { logAge = Number.POSITIVE_INFINITY } = this.#retention;
    const excess = Math.max(0, this.#tasks.size - maxTasks);
    let changed = 0;
    for (const [index, task] of this.#finished().entries()) {
      const age = this.now() - task.head.statusAt;
      if (index < excess || age > maxAge) this.#delete(task);
      else if (age > logAge && task.firstSeq <= task.seq) this.#deleteLog(task);
      else continue;
      changed += 1;
      if (changed >= 500) break;
    }
    return changed;
  }

  /** Ended tasks without an active webhook, in the order they ended. */
  #finished(): TaskDocument[] {
    return this.tasks()
      .filter(({ endedAs, webhooks }) => endedAs !== undefined && webhooks.every(({ state }) => state !== "active"))
      .sort((a, b) => (a.endedAs ?? 0) - (b.endedAs ?? 0));
  }

  #delete({ id, create: { scope, contextId } }: TaskDocument): void {
    this.#tasks.delete(id);
    this.#logs.delete(id);
    const key = contextKey(scope, contextId);
    const isLast = (): boolean =>
      this.tasks().every(({ create }) => contextKey(create.scope, create.contextId) !== key);
    if (this.#contexts.has(key) && isLast()) this.#contexts.delete(key);
  }

  #deleteLog(task: TaskDocument): void {
    task.artifacts ??= artifactsOfLog(this.log(task, 0));
    task.firstSeq = task.seq + 1;
    task.journal = [];
    this.#logs.delete(task.id);
    this.save(task);
  }
}

// The casts are safe: only this store writes the texts.
function readTask(text: string): TaskDocument {
  return JSON.parse(text) as TaskDocument;
}

function contextKey({ agent, tenant, owner }: Scope, contextId: ContextId): string {
  return JSON.stringify([agent, tenant, owner, contextId]);
}
