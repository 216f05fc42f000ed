import type { Scope } from "../../protocol/principal.ts";
import type { TaskRow } from "./task-row.ts";

/** Which tasks a message made, oldest first: the same id may have made several. */
export class MessageIndex {
  readonly #tasks = new Map<string, TaskRow[]>();

  add(row: TaskRow): void {
    const key = keyOf(row);
    if (key === undefined) return;
    const rows = this.#tasks.get(key);
    if (rows === undefined) this.#tasks.set(key, [row]);
    else rows.push(row);
  }

  delete(row: TaskRow): void {
    const key = keyOf(row);
    const rows = key === undefined ? undefined : this.#tasks.get(key);
    if (key === undefined || rows === undefined) return;
    // The oldest go first, so it is found at once even where one id has made many.
    rows.splice(rows.indexOf(row), 1);
    if (rows.length === 0) this.#tasks.delete(key);
  }

  /** The latest, of those made at `since` or later. */
  latest(scope: Scope, messageId: string, since: number = Number.NEGATIVE_INFINITY): TaskRow | undefined {
    return this.#tasks.get(messageKey(scope, messageId))?.findLast((row) => row.create.at >= since);
  }
}

function keyOf({ create: { scope, messageId } }: TaskRow): string | undefined {
  return messageId === undefined ? undefined : messageKey(scope, messageId);
}

function messageKey({ agent, tenant, owner }: Scope, messageId: string): string {
  return JSON.stringify([agent, tenant, owner, messageId]);
}
