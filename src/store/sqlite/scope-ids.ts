import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope } from "../../protocol/principal.ts";

const MAX_KNOWN = 10_000;

/**
 * The tasks of the scopes up to this number are not in the index by agent: lists for operators merge these scopes with it. Most servers have few
 * callers, and storing their tasks writes one index less. Also in the schema, so it cannot be changed without a migration.
 */
export const LAST_MERGED_SCOPE = 8;

const SELECT_ID = "SELECT id FROM scope WHERE agent = ? AND tenant = ? AND owner = ?";

/**
 * The file stores scopes as small numbers. The writer thread creates them and removes those without tasks. Only the writer thread may cache the
 * number of a scope: for other threads it could be removed in between.
 */
export class ScopeIds {
  readonly #ids = new Map<string, number>();
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #removeEmpty: StatementSync;
  /** Scopes of tasks that this transaction deleted or did not create. */
  readonly #perhapsEmpty = new Set<number>();
  /** A number is never used twice while this process lives, so that a number a reader has found never means another scope. */
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

  /** The number of a scope; creates it if it is new. */
  idOf(scope: Scope): number {
    const known = this.find(scope);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#insert.run(this.#last, scope.agent, scope.tenant, scope.owner);
    return this.#remember(keyOf(scope), this.#last);
  }

  /** The number of a scope that has tasks; otherwise `undefined`. */
  find(scope: Scope): number | undefined {
    const key = keyOf(scope);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#select.get(scope.agent, scope.tenant, scope.owner)?.["id"];
    return id === undefined ? undefined : this.#remember(key, Number(id));
  }

  /** A task of this scope was deleted or not created: the scope is removed at the end of the transaction if it has no other task. */
  mayBeEmpty(id: number): void {
    this.#perhapsEmpty.add(id);
  }

  /** Removes the scopes without tasks. Call it at the end of a transaction, when the tasks it created count. */
  removeEmpty(): void {
    if (this.#perhapsEmpty.size === 0) return;
    for (const id of this.#perhapsEmpty) {
      const removed = this.#removeEmpty.get(id);
      if (removed !== undefined) this.#ids.delete(keyOf(scopeIn(removed)));
    }
    this.#perhapsEmpty.clear();
  }

  /** Discards the changes of a transaction that was rolled back. */
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

/** Removes scopes without tasks that earlier releases left in the file. */
export function removeEmptyScopes(database: DatabaseSync): void {
  database.exec("DELETE FROM scope WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.scope = scope.id)");
}

/** Looks up scopes for readers. */
export class ScopeReader {
  readonly #scopes = new Map<number, Scope>();
  readonly #select: StatementSync;
  readonly #selectById: StatementSync;
  readonly #ofOwner: StatementSync;
  readonly #ofTenant: StatementSync;
  readonly #merged: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare(SELECT_ID);
    this.#selectById = database.prepare("SELECT agent, tenant, owner FROM scope WHERE id = ?");
    this.#ofOwner = database.prepare(
      `SELECT id FROM scope INDEXED BY scope_by_owner
       WHERE owner = ?1 AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR tenant = ?3)`,
    );
    this.#ofTenant = database.prepare(
      `SELECT scope.id AS id FROM agent CROSS JOIN scope ON scope.agent = agent.name AND tenant = ?2
       WHERE ?1 IS NULL OR agent.name = ?1`,
    );
    this.#merged = database.prepare(
      `SELECT id FROM scope WHERE id <= ${LAST_MERGED_SCOPE} AND (?1 IS NULL OR +agent = ?1)`,
    );
  }

  /** The number of a scope that has tasks now; otherwise `undefined`. */
  find({ agent, tenant, owner }: Scope): number | undefined {
    const id = this.#select.get(agent, tenant, owner)?.["id"];
    return id === undefined ? undefined : Number(id);
  }

  /** The numbers of all scopes with this owner or tenant. */
  select({ agent, tenant, owner }: Partial<Scope>): number[] {
    const rows =
      owner === undefined
        ? this.#ofTenant.all(agent ?? null, tenant ?? "")
        : this.#ofOwner.all(owner, agent ?? null, tenant ?? null);
    return rows.map((row) => Number(row["id"]));
  }

  /** The scopes whose tasks are not in the index by agent. */
  merged(agent: string | undefined): number[] {
    return this.#merged.all(agent ?? null).map((row) => Number(row["id"]));
  }

  /** The scope with this number, which must exist: called in the transaction that found one of its tasks. */
  mustFind(id: number): Scope {
    const scope = this.scopeOf(id);
    if (scope === undefined) throw new Error(`The file has a task of a scope that does not exist (${id}).`);
    return scope;
  }

  /** The scope with this number. `undefined`: the task, and its scope, were deleted after the task was read. */
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

/** A unique text per scope: two lengths separate the parts. Called for every new task, so it must be fast. */
function keyOf({ agent, tenant, owner }: Scope): string {
  return `${agent.length}.${tenant.length}.${agent}${tenant}${owner}`;
}
