import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope } from "../../protocol/principal.ts";

const MAX_KNOWN = 10_000;

/** Scopes are small numbers in the file. Each thread has its own of these. */
export class ScopeIds {
  readonly #ids = new Map<string, number>();
  readonly #scopes = new Map<number, Scope>();
  readonly #select: StatementSync;
  readonly #selectById: StatementSync;
  readonly #insert: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare("SELECT id FROM scope WHERE agent = ? AND tenant = ? AND owner = ?");
    this.#selectById = database.prepare("SELECT agent, tenant, owner FROM scope WHERE id = ?");
    this.#insert = database.prepare("INSERT INTO scope (agent, tenant, owner) VALUES (?, ?, ?)");
  }

  /** The number of a scope, made if it is new. */
  idOf(scope: Scope): number {
    return (
      this.find(scope) ??
      this.#remember(keyOf(scope), Number(this.#insert.run(scope.agent, scope.tenant, scope.owner).lastInsertRowid))
    );
  }

  /** The number of a scope, if any task was ever in it. */
  find(scope: Scope): number | undefined {
    const key = keyOf(scope);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const row = this.#select.get(scope.agent, scope.tenant, scope.owner);
    return row === undefined ? undefined : this.#remember(key, Number(row["id"]));
  }

  scopeOf(id: number): Scope {
    const known = this.#scopes.get(id);
    if (known !== undefined) return known;
    const row = this.#selectById.get(id);
    if (row === undefined) throw new Error(`The file has a task of an unknown scope (${id}).`);
    const scope = { agent: String(row["agent"]), tenant: String(row["tenant"]), owner: String(row["owner"]) };
    if (this.#scopes.size >= MAX_KNOWN) this.#scopes.clear();
    this.#scopes.set(id, scope);
    return scope;
  }

  clear(): void {
    this.#ids.clear();
  }

  #remember(key: string, id: number): number {
    if (this.#ids.size >= MAX_KNOWN) this.#ids.clear();
    this.#ids.set(key, id);
    return id;
  }
}

function keyOf({ agent, tenant, owner }: Scope): string {
  return JSON.stringify([agent, tenant, owner]);
}
