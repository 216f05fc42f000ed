import type { DatabaseSync } from "node:sqlite";
import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import type { TaskRecord, WebhookRecord } from "../../contract.ts";
import { RecordBatch } from "../../copy/record-batches.ts";
import type { StoredTask, StoredWebhook, StoreRecord } from "../../copy/records.ts";
import { HotIndex } from "../read/hot-index.ts";
import { LogReader } from "../read/log-reader.ts";
import { TaskPartsReader } from "../read/task-parts-reader.ts";
import { TaskReader } from "../read/task-reader.ts";
import { WebhookReader } from "../read/webhook-reader.ts";
import { ScopeReader } from "../scope-ids.ts";

const PAGE_BYTES = 256 * 1024;

/** Everything in a file that nobody writes meanwhile: see `StoreSource.records`. */
export async function* sqliteRecords(database: DatabaseSync): AsyncGenerator<readonly StoreRecord[]> {
  const batch = new RecordBatch();
  // Each of the two reads page by page, so that neither a long log nor many tasks are in memory at once.
  for (const [record, bytes] of both(taskRecords(database), contextRecords(database))) {
    batch.add(record, bytes);
    if (batch.isFull) yield batch.take();
  }
  const rest = batch.take();
  if (rest.length > 0) yield rest;
}

/** A record and the bytes of its texts. */
type Sized = readonly [StoreRecord, number];

function* both(first: Iterable<Sized>, second: Iterable<Sized>): Generator<Sized> {
  yield* first;
  yield* second;
}

function* taskRecords(database: DatabaseSync): Generator<Sized> {
  const logs = new LogReader(database, new HotIndex());
  const tasks = new TaskReader(database, { scopes: new ScopeReader(database), logs });
  const parts = new TaskPartsReader(database);
  const webhooks = new WebhookReader(database);
  const all = database.prepare(
    "SELECT id, ended, message_id, digest FROM task LEFT JOIN sent ON sent.task = pk ORDER BY pk",
  );
  for (const row of all.iterate()) {
    const id = String(row["id"]) as TaskId; // Safe: written from a task id.
    const record = tasks.get(id, { artifacts: true, history: 0 });
    if (record === undefined) continue;
    const task = storedTask(record, row);
    yield [{ kind: "task", task }, task.head.status.length + task.head.runner.length + (task.artifacts?.length ?? 0)];
    for (let after = 0; ; ) {
      const entries = logs.read(id, after, PAGE_BYTES);
      for (const entry of entries)
        yield [{ kind: "log", task: id, entry }, entry.body.length + (entry.note?.length ?? 0)];
      const last = entries.at(-1)?.seq;
      if (last === undefined || last >= record.seq) break;
      after = last;
    }
    for (let n = 0; ; ) {
      const entries = tasks.history(id, n, PAGE_BYTES);
      if (entries.length === 0) break;
      for (const entry of entries) yield [{ kind: "message", task: id, n: n++, entry }, entry.body.length];
    }
    for (const [n, entry] of parts.inbox(id).entries())
      yield [{ kind: "inbox", task: id, n, entry }, entry.body.length];
    for (const step of parts.steps(id)) yield [{ kind: "step", task: id, step }, step.value.length];
    for (const [n, entry] of parts.journal(id).entries())
      yield [{ kind: "journal", task: id, n, record: entry }, entry.body.length];
    for (const [n, webhook] of webhooks.of(id).entries())
      yield [{ kind: "webhook", task: id, n, webhook: storedWebhook(webhook) }, webhook.body.length];
  }
}

function* contextRecords(database: DatabaseSync): Generator<Sized> {
  const parts = new TaskPartsReader(database);
  const all = database.prepare(
    "SELECT agent, tenant, owner, context, changes FROM context JOIN scope ON scope.id = context.scope",
  );
  for (const row of all.iterate()) {
    const scope = { agent: String(row["agent"]), tenant: String(row["tenant"]), owner: String(row["owner"]) };
    const contextId = String(row["context"]) as ContextId; // Safe: written from a context id.
    yield [{ kind: "context", scope, contextId, changes: Number(row["changes"]) }, contextId.length];
    for (const value of parts.contextValues(scope, contextId))
      yield [{ kind: "value", scope, contextId, value }, value.value.length];
  }
}

function storedTask(record: TaskRecord, row: Readonly<Record<string, unknown>>): StoredTask {
  const { node: _node, history: _history, largeHistory: _large, ...task } = record;
  const { message_id: messageId, digest } = row;
  return {
    ...task,
    ended: row["ended"] === 1,
    ...(typeof messageId === "string" && { messageId }),
    ...(typeof digest === "string" && { digest }),
  };
}

function storedWebhook({ task: _task, epoch: _epoch, node: _node, ...webhook }: WebhookRecord): StoredWebhook {
  return webhook;
}
