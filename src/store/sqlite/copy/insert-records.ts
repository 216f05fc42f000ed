import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";
import type { LogEntry } from "../../contract.ts";
import type { StoreRecord } from "../../copy/records.ts";
import { AgentIds } from "../agent-ids.ts";
import { CounterDeltas } from "../counters.ts";
import { joinEntries } from "../row/log-text.ts";
import { STATE_CODE } from "../row/state-code.ts";
import { WEBHOOK_STATE_CODE } from "../row/webhook-state.ts";
import { ScopeIds } from "../scope-ids.ts";

const SEGMENT_BYTES = 256_000;

/** Inserts records into an empty file, within the open transaction. */
export class RecordInserter {
  readonly #scopes: ScopeIds;
  readonly #agents: AgentIds;
  readonly #counters: CounterDeltas;
  readonly #statements: Statements;
  readonly #keyOf: StatementSync;
  /** The number of the last task, and of the task that records belong to. */
  #last = 0;
  #current: { readonly id: TaskId; readonly pk: number } | undefined;
  #entries: LogEntry[] = [];
  #bytes = 0;

  constructor(database: DatabaseSync) {
    this.#scopes = new ScopeIds(database);
    this.#agents = new AgentIds(database);
    this.#counters = new CounterDeltas(database, () => {});
    this.#statements = prepare(database);
    this.#keyOf = database.prepare("SELECT pk FROM task WHERE id = ?");
  }

  add(records: readonly StoreRecord[]): void {
    for (const record of records) {
      if (record.kind === "log") this.#addEntry(record.task, record.entry);
      else this.#insert(record);
    }
    this.#flush();
    this.#counters.flush();
  }

  #insert(record: Exclude<StoreRecord, { readonly kind: "log" }>): void {
    const { message, inbox, step, journal, webhook, context, value } = this.#statements;
    switch (record.kind) {
      case "task":
        this.#insertTask(record.task);
        break;
      case "message": {
        const { after, inbox: id, body } = record.entry;
        message.run(this.#pkOf(record.task), after, id ?? null, body);
        break;
      }
      case "inbox": {
        const { id, kind, sealed, at, body } = record.entry;
        inbox.run(this.#pkOf(record.task), id, kind === "cancel" ? 1 : 0, sealed ? 1 : 0, at, body);
        break;
      }
      case "step":
        step.run(this.#pkOf(record.task), record.step.key, record.step.value);
        break;
      case "journal":
        journal.run(this.#pkOf(record.task), record.record.key, record.record.body);
        break;
      case "webhook": {
        const { id, state, cursor, attempts, nextAt, at, unnamed, failedAt, failure, dialect, body } = record.webhook;
        webhook.run(
          ...[this.#pkOf(record.task), id, WEBHOOK_STATE_CODE[state], cursor, attempts, nextAt, at, unnamed ? 1 : 0],
          ...[failedAt ?? null, failure ?? null, dialect, body],
        );
        break;
      }
      case "context":
        context.run(this.#scopes.idOf(record.scope), record.contextId, record.changes);
        break;
      case "value": {
        const { key, version, value: text } = record.value;
        value.run(this.#scopes.idOf(record.scope), record.contextId, key, version, text);
        break;
      }
    }
  }

  #insertTask(task: Extract<StoreRecord, { readonly kind: "task" }>["task"]): void {
    const { id, contextId, scope, head } = task;
    const pk = ++this.#last;
    const scopeId = this.#scopes.idOf(scope);
    const state = STATE_CODE[head.state];
    this.#statements.task.run(
      ...[pk, id, scopeId, this.#agents.idOf(scope.agent), contextId, state, head.statusAt],
      ...[task.ended ? 1 : 0, head.active ? 1 : 0, head.wakeAt ?? null, task.epoch, task.seq, task.firstSeq],
      ...[task.createdAt, task.dialect, task.messageId ?? null, task.parent ?? null, task.root ?? null],
      ...[head.status, head.metadata ?? null, head.runner, task.artifacts ?? null],
    );
    if (task.digest !== undefined) this.#statements.sent.run(pk, task.digest);
    this.#counters.count({ scope: scopeId, context: contextId, counted: true, state, statusAt: head.statusAt }, 1);
  }

  #addEntry(task: TaskId, entry: LogEntry): void {
    if (this.#current?.id !== task || this.#bytes >= SEGMENT_BYTES) this.#flush();
    this.#pkOf(task);
    this.#entries.push(entry);
    this.#bytes += entry.body.length;
  }

  #flush(): void {
    const [first, last] = [this.#entries[0], this.#entries.at(-1)];
    if (this.#current !== undefined && first !== undefined && last !== undefined)
      this.#statements.segment.run(this.#current.pk, last.seq, first.seq, joinEntries(this.#entries));
    this.#entries = [];
    this.#bytes = 0;
  }

  /** The number of a task; the task of the last call is remembered. */
  #pkOf(id: TaskId): number {
    if (this.#current?.id !== id) {
      this.#flush();
      this.#current = { id, pk: Number(this.#keyOf.get(id)?.["pk"]) };
    }
    return this.#current.pk;
  }
}

type Statements = Readonly<
  Record<
    "task" | "sent" | "segment" | "message" | "inbox" | "step" | "journal" | "webhook" | "context" | "value",
    StatementSync
  >
>;

function prepare(database: DatabaseSync): Statements {
  const insert = (table: string, columns: readonly string[], fixed: Readonly<Record<string, string>> = {}) =>
    database.prepare(
      `INSERT INTO ${table} (${[...columns, ...Object.keys(fixed)].join(", ")})
       VALUES (${[...columns.map(() => "?"), ...Object.values(fixed)].join(", ")})`,
    );
  return {
    task: insert(
      "task",
      [
        ...["pk", "id", "scope", "agent", "context", "state", "status_at", "ended", "active", "wake_at", "epoch"],
        ...["seq", "first_seq", "created_at", "dialect", "message_id", "parent", "root", "status", "metadata"],
        ...["runner", "artifacts"],
      ],
      // Parts of the task are in other tables, and the counters of its context include it.
      { whole: "0", counted: "1" },
    ),
    sent: insert("sent", ["task", "digest"]),
    segment: insert("segment", ["task", "last", "first", "body"]),
    message: insert("message", ["task", "after", "inbox", "body"]),
    inbox: insert("inbox", ["task", "id", "cancel", "sealed", "at", "body"]),
    step: insert("step", ["task", "key", "value"]),
    journal: insert("journal", ["task", "key", "body"]),
    webhook: insert(
      "webhook",
      [
        ...["task", "id", "state", "cursor", "attempts", "next_at", "at", "unnamed", "failed_at", "failure"],
        ...["dialect", "body"],
      ],
      { epoch: "0" },
    ),
    context: insert("context", ["scope", "context", "changes"]),
    value: insert("context_value", ["scope", "context", "key", "version", "value"]),
  };
}
