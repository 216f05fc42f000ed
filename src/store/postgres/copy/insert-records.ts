import type { LogEntry } from "../../contract.ts";
import type { RecordKind, StoreRecord } from "../../copy/records.ts";
import type { Query } from "../query.ts";
import { logText } from "../row/log-text.ts";
import { scopeKey } from "../row/scope-key.ts";
import { storableText } from "../row/text.ts";

/** The rows of one table, and how they are inserted: in the given order, because some tables number their rows. */
interface Table {
  readonly name: string;
  /** Names and types, as in `json_to_recordset`. */
  readonly columns: string;
}

const TABLES: Readonly<Record<RecordKind | "artifacts", Table>> = {
  task: {
    name: "task",
    columns: `id text, scope uuid, agent text, tenant text, owner text, context text, dialect text, created_at bigint, message_id text,
      digest text, parent text, root text, state text, status_at bigint, ended boolean, active boolean, wake_at bigint, node text,
      epoch bigint, seq bigint, first_seq bigint, status text, metadata text, runner text`,
  },
  artifacts: { name: "artifacts", columns: "task text, body text" },
  log: { name: "log", columns: "task text, first bigint, last bigint, bytes integer, entries text" },
  message: { name: "message", columns: "task text, n integer, after bigint, inbox text, body text" },
  inbox: { name: "inbox", columns: "task text, id text, kind text, sealed boolean, at bigint, body text" },
  step: { name: "step", columns: "task text, key text, value text" },
  journal: { name: "journal", columns: "task text, key text, body text" },
  webhook: {
    name: "webhook",
    columns: `task text, id text, state text, cursor bigint, attempts integer, next_at bigint, at bigint, unnamed boolean, failed_at bigint,
      failure text, dialect text, body text`,
  },
  context: { name: "context", columns: "scope uuid, context text, changes bigint" },
  value: { name: "context_value", columns: "scope uuid, context text, key text, version bigint, value text" },
};

/** Bytes of one row of the log. */
const MAX_LOG_ROW = 256 * 1024;

type Json = Readonly<Record<string, unknown>>;

/** Inserts records with one statement per table. `schema` is a quoted name. */
export async function insertRecords(query: Query, schema: string, records: readonly StoreRecord[]): Promise<void> {
  const rows = new Map<RecordKind | "artifacts", Json[]>();
  const add = (kind: RecordKind | "artifacts", row: Json): void => {
    const list = rows.get(kind);
    if (list === undefined) rows.set(kind, [row]);
    else list.push(row);
  };
  const logs = new LogRows((row) => add("log", row));
  for (const record of records) {
    if (record.kind === "log") {
      logs.add(record.task, record.entry);
      continue;
    }
    add(record.kind, rowOf(record));
    if (record.kind === "task" && record.task.artifacts !== undefined)
      add("artifacts", { task: storableText(record.task.id), body: storableText(record.task.artifacts) });
  }
  logs.flush();
  for (const [kind, list] of rows) {
    const { name, columns } = TABLES[kind];
    const names = columns
      .split(",")
      .map((column) => column.trim().split(" ")[0])
      .join(", ");
    await query(
      `INSERT INTO ${schema}.${name} (${names})
       SELECT ${names} FROM ROWS FROM (json_to_recordset($1::json) AS (${columns})) WITH ORDINALITY ORDER BY ordinality`,
      [JSON.stringify(list)],
    );
  }
}

function rowOf(record: Exclude<StoreRecord, { readonly kind: "log" }>): Json {
  switch (record.kind) {
    case "task":
      return taskRow(record.task);
    case "message": {
      const { after, body, inbox } = record.entry;
      return { task: storableText(record.task), n: record.n, after, inbox: optional(inbox), body: storableText(body) };
    }
    case "inbox": {
      const { id, kind, sealed, at, body } = record.entry;
      return { task: storableText(record.task), id: storableText(id), kind, sealed, at, body: storableText(body) };
    }
    case "step": {
      const { key, value } = record.step;
      return { task: storableText(record.task), key: storableText(key), value: storableText(value) };
    }
    case "journal": {
      const { key, body } = record.record;
      return { task: storableText(record.task), key: storableText(key), body: storableText(body) };
    }
    case "webhook":
      return webhookRow(record);
    case "context":
      return { scope: scopeKey(record.scope), context: storableText(record.contextId), changes: record.changes };
    case "value": {
      const { key, version, value } = record.value;
      const context = storableText(record.contextId);
      return { scope: scopeKey(record.scope), context, key: storableText(key), version, value: storableText(value) };
    }
  }
}

function taskRow(task: Extract<StoreRecord, { readonly kind: "task" }>["task"]): Json {
  const { scope, head } = task;
  return {
    id: storableText(task.id),
    scope: scopeKey(scope),
    agent: storableText(scope.agent),
    tenant: storableText(scope.tenant),
    owner: storableText(scope.owner),
    context: storableText(task.contextId),
    dialect: task.dialect,
    created_at: task.createdAt,
    message_id: optional(task.messageId),
    digest: optional(task.digest),
    parent: optional(task.parent),
    root: optional(task.root),
    state: head.state,
    status_at: head.statusAt,
    ended: task.ended,
    active: head.active,
    wake_at: head.wakeAt,
    node: "",
    epoch: task.epoch,
    seq: task.seq,
    first_seq: task.firstSeq,
    status: storableText(head.status),
    metadata: optional(head.metadata),
    runner: storableText(head.runner),
  };
}

function webhookRow({ task, webhook }: Extract<StoreRecord, { readonly kind: "webhook" }>): Json {
  const { id, state, cursor, attempts, nextAt, at, unnamed, failedAt, failure, dialect, body } = webhook;
  return {
    ...{ task: storableText(task), id: storableText(id), state, cursor, attempts, next_at: nextAt, at, unnamed },
    ...{ failed_at: failedAt, failure: optional(failure), dialect, body: storableText(body) },
  };
}

/** Joins consecutive entries of a task into one row. */
class LogRows {
  readonly #add: (row: Json) => void;
  #task: string | undefined;
  #entries: LogEntry[] = [];
  #bytes = 0;

  constructor(add: (row: Json) => void) {
    this.#add = add;
  }

  add(task: string, entry: LogEntry): void {
    if (task !== this.#task || this.#bytes >= MAX_LOG_ROW) this.flush();
    this.#task = task;
    this.#entries.push(entry);
    this.#bytes += Buffer.byteLength(entry.body);
  }

  flush(): void {
    const [first] = this.#entries;
    if (this.#task !== undefined && first !== undefined) {
      this.#add({
        task: storableText(this.#task),
        first: first.seq,
        last: first.seq + this.#entries.length - 1,
        bytes: this.#bytes,
        entries: logText(this.#entries),
      });
    }
    this.#entries = [];
    this.#bytes = 0;
  }
}

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storableText(text);
}
