import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import type { Scope } from "../../../protocol/principal.ts";
import type {
  ContextValue,
  InboxEntry,
  JournalRecord,
  MessageTrace,
  NodeClaims,
  StepRecord,
  WaitingEntry,
} from "../../contract.ts";

/** The scope of a query by agent, tenant and owner. */
const SCOPE = "(SELECT id FROM scope WHERE agent = ? AND tenant = ? AND owner = ?)";

/** Reads what is small and found by one query: inboxes, leases, steps, journals, context values and message ids. */
export class TaskPartsReader {
  readonly #inbox: StatementSync;
  readonly #waiting: StatementSync;
  readonly #leases: StatementSync;
  readonly #steps: StatementSync;
  readonly #journal: StatementSync;
  readonly #contextValues: StatementSync;
  readonly #byMessage: StatementSync;

  constructor(database: DatabaseSync) {
    const inTask = "JOIN task ON task.pk = task WHERE task.id = ? ORDER BY n";
    this.#inbox = database.prepare(`SELECT inbox.id, cancel, sealed, at, body FROM inbox ${inTask}`);
    this.#steps = database.prepare(`SELECT key, value FROM step ${inTask}`);
    this.#journal = database.prepare(`SELECT key, body FROM journal ${inTask}`);
    // Begins with the inbox, which is nearly empty: a node may hold thousands of tasks.
    this.#waiting = database.prepare(
      `SELECT task.id AS task_id, inbox.id AS id FROM inbox CROSS JOIN task ON task.pk = inbox.task
       WHERE task.node = ? ORDER BY task.pk, n`,
    );
    this.#leases = database.prepare(
      `SELECT id, epoch FROM task INDEXED BY task_live
       WHERE ended = 0 AND (node IS NOT NULL OR active = 1) AND node = ? ORDER BY pk`,
    );
    this.#contextValues = database.prepare(
      `SELECT key, value, version FROM context_value WHERE scope = ${SCOPE} AND context = ? ORDER BY key`,
    );
    this.#byMessage = database.prepare(
      `SELECT id, created_at, digest FROM task LEFT JOIN sent ON sent.task = pk
       WHERE scope = ${SCOPE} AND message_id = ? ORDER BY pk DESC LIMIT 1`,
    );
  }

  inbox(id: TaskId): InboxEntry[] {
    return this.#inbox.all(id).map((row) => ({
      id: String(row["id"]),
      kind: row["cancel"] === 1 ? "cancel" : "message",
      body: String(row["body"]),
      sealed: row["sealed"] === 1,
      at: Number(row["at"]),
    }));
  }

  waitingEntries(node: string): WaitingEntry[] {
    return this.#waiting.all(node).map((row) => ({ task: taskId(row["task_id"]), id: String(row["id"]) }));
  }

  /** The tasks whose lease the node holds. */
  leasesOf(node: string): NodeClaims["tasks"] {
    return this.#leases.all(node).map((row) => ({ id: taskId(row["id"]), epoch: Number(row["epoch"]) }));
  }

  steps(id: TaskId): StepRecord[] {
    return this.#steps.all(id).map((row) => ({ key: String(row["key"]), value: String(row["value"]) }));
  }

  journal(id: TaskId): JournalRecord[] {
    return this.#journal.all(id).map((row) => ({ key: String(row["key"]), body: String(row["body"]) }));
  }

  contextValues({ agent, tenant, owner }: Scope, contextId: ContextId): ContextValue[] {
    return this.#contextValues.all(agent, tenant, owner, contextId).map((row) => ({
      key: String(row["key"]),
      value: String(row["value"]),
      version: Number(row["version"]),
    }));
  }

  findByMessage({ agent, tenant, owner }: Scope, messageId: string): MessageTrace | undefined {
    const row = this.#byMessage.get(agent, tenant, owner, messageId);
    if (row === undefined) return undefined;
    const { digest } = row;
    return {
      task: taskId(row["id"]),
      createdAt: Number(row["created_at"]),
      ...(typeof digest === "string" && { digest }),
    };
  }
}

function taskId(value: unknown): TaskId {
  return String(value) as TaskId; // Safe cast: written from a TaskId.
}
