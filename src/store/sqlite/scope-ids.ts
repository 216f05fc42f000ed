import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope } from "../../protocol/principal.ts";

const MAX_KNOWN = 10_000;

const SELECT_ID = "SELECT id FROM scope WHERE agent = ? AND tenant = ? AND owner = ?";

/**
 * Scopes are small numbers in the file. The thread that writes makes them, and removes those that have no task left. Only this thread may
 * remember which number a scope has: elsewhere it could be removed meanwhile.
 */
export class ScopeIds {
  readonly #ids = new Map<string, number>();
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #removeEmpty: StatementSync;
  /** Scopes of tasks that were deleted or not made in this transaction. */
  readonly #perhapsEmpty = new Set<number>();
  /** No number is used twice while this process lives, so that one that a reader has found never means another scope. */
  #last: number;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(SELECT_ID);
    this.#insert = database.prepare("INSERT INTO scope (id, agent, tenant, owner) VALUES (?, ?, ?, ?)");
    this.#removeEmpty = database.prepare(
      `DELETE FROM scope WHERE id = ? AND NOT EXISTS (SELECT 1 FROM task WHERE task.scope = scope.id)
       RETURNING agent, tenant, owner`,
    );
    this.#last = Number(database.prepare("SELECT max(id) AS id FROM scope").get()?.["id"] ?? 0);
  }

  /** The number of a scope, made if it is new. */
  idOf(scope: Scope): number {
    const known = this.find(scope);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#insert.run(this.#last, scope.agent, scope.tenant, scope.owner);
    return this.#remember(keyOf(scope), this.#last);
  }

  /** The number of a scope, if there is a task in it. */
  find(scope: Scope): number | undefined {
    const key = keyOf(scope);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#select.get(scope.agent, scope.tenant, scope.owner)?.["id"];
    return id === undefined ? undefined : this.#remember(key, Number(id));
  }

  /** A task of this scope was deleted or not made: the scope goes at the end of the transaction if no other task is in it. */
  mayBeEmpty(id: number): void {
    this.#perhapsEmpty.add(id);
  }

  /** Removes the scopes without tasks. To be called at the end of a transaction, when tasks that came meanwhile count. */
  removeEmpty(): void {
    if (this.#perhapsEmpty.size === 0) return;
    for (const id of this.#perhapsEmpty) {
      const removed = this.#removeEmpty.get(id);
      if (removed !== undefined) this.#ids.delete(keyOf(scopeIn(removed)));
    }
    this.#perhapsEmpty.clear();
  }

  /** Forgets what a transaction did that was rolled back. */
  clear(): void {
    this.#ids.clear();
    this.#perhapsEmpty.clear();
  }

  #remember(key: string, id: number): number {
    if (this.#ids.size >= MAX_KNOWN) this.#ids.clear();
    this.#ids.set(key, id);
    return id;
  }
}

/** Removes the scopes that have no task, as earlier releases left them behind. */
export function removeEmptyScopes(database: DatabaseSync): void {
  database.exec("DELETE FROM scope WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.scope = scope.id)");
}

/** Scopes as a reader finds them. */
export class ScopeReader {
  readonly #scopes = new Map<number, Scope>();
  readonly #select: StatementSync;
  readonly #selectById: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(SELECT_ID);
    this.#selectById = database.prepare("SELECT agent, tenant, owner FROM scope WHERE id = ?");
  }

  /** The number of a scope, if there is a task in it now. */
  find({ agent, tenant, owner }: Scope): number | undefined {
    const id = this.#select.get(agent, tenant, owner)?.["id"];
    return id === undefined ? undefined : Number(id);
  }

  /** The scope of a number that a task has. `undefined`: the task was deleted since it was read, and its scope with it. */
  scopeOf(id: number): Scope | undefined {
    const known = this.#scopes.get(id);
    if (known !== undefined) return known;
    const row = this.#selectById.get(id);
    if (row === undefined) return undefined;
    const scope = scopeIn(row);
    if (this.#scopes.size >= MAX_KNOWN) this.#scopes.clear();
    this.#scopes.set(id, scope);
    return scope;
  }
}

function scopeIn(row: Record<string, unknown>): Scope {
  return { agent: String(row["agent"]), tenant: String(row["tenant"]), owner: String(row["owner"]) };
}

/** One text for each scope: the lengths say where the first two parts end. Made for every new task, so it must be quick. */
function keyOf({ agent, tenant, owner }: Scope): string {
  return `${agent.length}.${tenant.length}.${agent}${tenant}${owner}`;
}
