import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import type { InboxEntry } from "../../contract.ts";
import { RecordBatch } from "../../copy/record-batches.ts";
import type { StoredTask, StoredWebhook, StoreRecord } from "../../copy/records.ts";
import type { Query } from "../query.ts";
import { logEntries } from "../row/log-text.ts";
import { historyEntryOf, recordOf, scopeOf, type TaskRow } from "../row/task-record.ts";
import { originalText } from "../row/text.ts";
import { type WebhookRow, webhookRecordOf } from "../row/webhook-record.ts";

const PAGE_TASKS = 50;
const PAGE_ROWS = 200;
const PAGE_BYTES = 1024 * 1024;

/** Everything in a schema: see `StoreSource.records`. `schema` is a quoted name. All statements must see the same state. */
export async function* postgresRecords(query: Query, schema: string): AsyncGenerator<readonly StoreRecord[]> {
  const batch = new RecordBatch();
  for (let after = 0; ; ) {
    const rows = await query(
      `SELECT task.*, ${schema}.last_seq_1(id, seq) AS last_seq, artifacts.body AS artifacts
       FROM ${schema}.task LEFT JOIN ${schema}.artifacts ON artifacts.task = task.id WHERE n > $1 ORDER BY n LIMIT ${PAGE_TASKS}`,
      [after],
    );
    if (rows.length === 0) break;
    after = Number(rows.at(-1)?.["n"]);
    for (const row of rows) batch.add({ kind: "task", task: storedTask(row) }, 0);
    const ids = rows.map(({ id }) => String(id));
    for await (const record of partsOf(query, schema, ids)) {
      batch.add(record, sizeOf(record));
      if (batch.isFull) yield batch.take();
    }
  }
  for await (const record of contexts(query, schema)) {
    batch.add(record, sizeOf(record));
    if (batch.isFull) yield batch.take();
  }
  const rest = batch.take();
  if (rest.length > 0) yield rest;
}

async function* partsOf(query: Query, schema: string, ids: readonly string[]): AsyncGenerator<StoreRecord> {
  for await (const row of logRows(query, schema, ids)) {
    const task = taskIdOf(row["task"]);
    for (const entry of logEntries(Number(row["first"]), String(row["entries"]))) yield { kind: "log", task, entry };
  }
  for await (const row of messageRows(query, schema, ids)) {
    const { after, body, inbox } = row;
    // Safe casts: the columns of the table.
    const entry = historyEntryOf([Number(after), String(body), inbox as string | null]);
    yield { kind: "message", task: taskIdOf(row["task"]), n: Number(row["n"]), entry };
  }
  const select = (columns: string, table: string): ReturnType<Query> =>
    query(`SELECT ${columns} FROM ${schema}.${table} WHERE task = ANY ($1) ORDER BY task, n`, [ids]);
  for (const [n, row] of numbered(await select("*", "inbox"))) {
    const { id, kind, sealed, at, body } = row;
    const entry = { id: originalText(String(id)), kind, sealed, at, body: originalText(String(body)) } as InboxEntry; // Safe: the columns of the table.
    yield { kind: "inbox", task: taskIdOf(row["task"]), n, entry };
  }
  for (const row of await query(`SELECT task, key, value FROM ${schema}.step WHERE task = ANY ($1)`, [ids])) {
    const step = { key: originalText(String(row["key"])), value: originalText(String(row["value"])) };
    yield { kind: "step", task: taskIdOf(row["task"]), step };
  }
  for (const [n, row] of numbered(await select("task, key, body", "journal"))) {
    const record = { key: originalText(String(row["key"])), body: originalText(String(row["body"])) };
    yield { kind: "journal", task: taskIdOf(row["task"]), n, record };
  }
  for (const [n, row] of numbered(await select("*", "webhook")))
    yield { kind: "webhook", task: taskIdOf(row["task"]), n, webhook: storedWebhook(row) };
}

/** The log of these tasks. The sum of the bytes before each row ends a page: the server reads no text of the rows behind it. */
async function* logRows(query: Query, schema: string, ids: readonly string[]): ReturnType<typeof pages> {
  yield* pages((task, first) =>
    query(
      `SELECT log.task, log.first AS position, log.first, log.entries FROM (
         SELECT task, first, bytes, sum(bytes) OVER (ORDER BY task, first) AS through FROM (
           SELECT task, first, bytes FROM ${schema}.log WHERE task = ANY ($1) AND (task, first) > ($2, $3)
           ORDER BY task, first LIMIT ${PAGE_ROWS}) AS rows
       ) AS page JOIN ${schema}.log ON log.task = page.task AND log.first = page.first
       WHERE page.through - page.bytes < ${PAGE_BYTES} ORDER BY log.task, log.first`,
      [ids, task, first],
    ),
  );
}

async function* messageRows(query: Query, schema: string, ids: readonly string[]): ReturnType<typeof pages> {
  yield* pages((task, n) =>
    query(
      `SELECT task, n AS position, n, after, inbox, body FROM ${schema}.message WHERE task = ANY ($1) AND (task, n) > ($2, $3)
       ORDER BY task, n LIMIT ${PAGE_ROWS}`,
      [ids, task, n],
    ),
  );
}

/** Reads page after page until one is empty. `read` gets the task and the position of the last row before. */
async function* pages(
  read: (task: string, position: number) => ReturnType<Query>,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let [task, position] = ["", -1];
  for (;;) {
    const rows = await read(task, position);
    if (rows.length === 0) return;
    yield* rows;
    [task, position] = [String(rows.at(-1)?.["task"]), Number(rows.at(-1)?.["position"])];
  }
}

async function* contexts(query: Query, schema: string): AsyncGenerator<StoreRecord> {
  const all = await query(
    `SELECT context.scope, context.context, changes, agent, tenant, owner FROM ${schema}.context JOIN LATERAL (
       SELECT agent, tenant, owner FROM ${schema}.task WHERE task.context = context.context AND task.scope = context.scope LIMIT 1
     ) AS any_task ON true`,
    [],
  );
  for (const row of all) {
    const scope = scopeOf(row as unknown as TaskRow); // Safe: it has the columns of a scope.
    const contextId = originalText(String(row["context"])) as ContextId; // Safe: stored as a context id.
    yield { kind: "context", scope, contextId, changes: Number(row["changes"]) };
    const values = await query(
      `SELECT key, value, version FROM ${schema}.context_value WHERE scope = $1 AND context = $2`,
      [row["scope"], row["context"]],
    );
    for (const { key, value, version } of values) {
      const record = { key: originalText(String(key)), value: originalText(String(value)), version: Number(version) };
      yield { kind: "value", scope, contextId, value: record };
    }
  }
}

/** Rows sorted by task, each with its position among those of its task. */
function* numbered<T extends Readonly<Record<string, unknown>>>(rows: readonly T[]): Generator<readonly [number, T]> {
  let [task, n]: [unknown, number] = [undefined, 0];
  for (const row of rows) {
    n = row["task"] === task ? n + 1 : 0;
    task = row["task"];
    yield [n, row];
  }
}

function storedTask(row: Readonly<Record<string, unknown>>): StoredTask {
  // Safe cast: the statement selects the columns of the row that are used here; a task is read without its messages.
  const record = recordOf({ ...row, messages: null, is_large: false } as unknown as TaskRow);
  const { node: _node, history: _history, ...task } = record;
  const { message_id: messageId, digest } = row;
  return {
    ...task,
    ended: row["ended"] === true,
    ...(typeof messageId === "string" && { messageId: originalText(messageId) }),
    ...(typeof digest === "string" && { digest: originalText(digest) }),
  };
}

function storedWebhook(row: Readonly<Record<string, unknown>>): StoredWebhook {
  const { task: _task, epoch: _epoch, node: _node, ...webhook } = webhookRecordOf(row as unknown as WebhookRow); // Safe: a row of the table.
  return webhook;
}

/** The texts that may be large. */
function sizeOf(record: StoreRecord): number {
  switch (record.kind) {
    case "log":
      return record.entry.body.length + (record.entry.note?.length ?? 0);
    case "message":
    case "inbox":
      return record.entry.body.length;
    case "step":
      return record.step.value.length;
    case "value":
      return record.value.value.length;
    default:
      return 100;
  }
}

function taskIdOf(text: unknown): TaskId {
  return originalText(String(text)) as TaskId; // Safe: stored ids were task ids.
}
