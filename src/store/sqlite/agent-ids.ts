import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The file stores agents as small numbers. Agents are configured, so there are few, and their numbers are never removed. */
export class AgentIds {
  readonly #ids = new Map<string, number>();
  readonly #select: StatementSync;
  readonly #insert: StatementSync;

  constructor(database: DatabaseSync) {
    this.#select = database.prepare("SELECT id FROM agent WHERE name = ?");
    this.#insert = database.prepare("INSERT INTO agent (name) VALUES (?) RETURNING id");
  }

  /** The number of an agent; creates it if it is new. */
  idOf(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = Number((this.#select.get(name) ?? this.#insert.get(name))?.["id"]);
    this.#ids.set(name, id);
    return id;
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#ids.clear();
  }
}
