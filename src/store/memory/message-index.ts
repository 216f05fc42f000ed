import type { Scope } from "../../protocol/principal.ts";
import type { TaskRow } from "./task-row.ts";

/** The tasks that were created with a message id, oldest first: an id may have created several. */
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
    // The oldest task is deleted first, so the search ends at once even if the id created many tasks.
    rows.splice(rows.indexOf(row), 1);
    if (rows.length === 0) this.#tasks.delete(key);
  }

  /** The newest task that was created at `since` or later. */
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
