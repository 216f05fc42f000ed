import type { Row } from "../../internal/postgres/driver.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import {
  type ClaimedTask,
  type ClaimQuery,
  type CommitKey,
  type ContextValue,
  type DueTasks,
  type DueWebhook,
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type JournalRecord,
  type KnownTask,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type NodeClaims,
  type OperatorPage,
  type OperatorQuery,
  type Outcome,
  type Position,
  type Retention,
  type StepRecord,
  StoreError,
  type StoreOperation,
  type StoreReport,
  type StoreStatistics,
  type TaskChange,
  type TaskRecord,
  type WaitingEntry,
  type WebhookRecord,
} from "../contract.ts";
import type { Connections } from "./connections.ts";
import type { OpenPostgresStore } from "./open-postgres-store.ts";
import { ListReader } from "./read/list-reader.ts";
import { LogReader } from "./read/log-reader.ts";
import { TaskPartsReader, type WaitingRow, waitingEntryOf } from "./read/task-parts-reader.ts";
import { TaskReader } from "./read/task-reader.ts";
import { WebhookReader } from "./read/webhook-reader.ts";
import { readReport } from "./report.ts";
import { areAppends, needsKeys, operationJson } from "./row/operation-json.ts";
import { type DueRow, dueTaskOf, type ScopeRow, scopeOf } from "./row/task-record.ts";
import { originalText, storableText } from "./row/text.ts";
import { type WebhookRow, webhookRecordOf } from "./row/webhook-record.ts";
import { readStatistics } from "./statistics.ts";
import { Sweeper } from "./sweeper.ts";
import { TaskCount } from "./task-count.ts";

export interface PostgresStoreParts {
  readonly connections: Connections;
  /** A quoted name. */
  readonly schema: string;
  readonly retention: Retention;
  readonly now: (() => number) | undefined;
}

/** Bytes that `health` writes: the size of an ordinary message. */
const PROBE_BYTES = 128 * 1024;

/** Commits go over one connection, all other calls over a pool. Every condition is checked by functions in the database: see `functions/`. */
export class PostgresStore implements OpenPostgresStore {
  readonly #parts: PostgresStoreParts;
  readonly #tasks: TaskReader;
  readonly #lists: ListReader;
  readonly #logs: LogReader;
  readonly #taskParts: TaskPartsReader;
  readonly #webhooks: WebhookReader;
  readonly #count: TaskCount;
  readonly #sweeper: Sweeper;

  constructor(parts: PostgresStoreParts) {
    const { connections, schema, retention } = parts;
    this.#parts = parts;
    this.#tasks = new TaskReader(connections, schema);
    this.#lists = new ListReader(connections, schema);
    this.#logs = new LogReader(connections, schema);
    this.#taskParts = new TaskPartsReader(connections, schema);
    this.#webhooks = new WebhookReader(connections, schema);
    this.#count = new TaskCount(connections, schema, retention.maxTasks);
    this.#sweeper = new Sweeper({ connections, schema, retention, logs: this.#logs, count: this.#count });
  }

  async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    if (operations.length > 0 && areAppends(operations)) return this.#append(operations, key);
    const { connections, schema, retention } = this.#parts;
    const creates = operations.some((operation) => operation.kind === "write" && operation.create !== undefined);
    const room = creates ? await this.#count.room() : undefined;
    const rows = await connections.write(`SELECT ${schema}.commit_1($1, $2, $3, $4, $5, $6, $7) AS result`, [
      JSON.stringify(operations.map(operationJson)),
      key === undefined ? null : storableText(key.writer),
      key?.n ?? null,
      operations.some(needsKeys),
      this.#clock(),
      room ?? null,
      retention.pruneCount ?? 100,
    ]);
    const { outcomes, room: left } = resultOf(rows, key);
    if (room !== undefined && left !== null) this.#count.changed(room - left);
    return outcomes.map(outcomeOf);
  }

  async #append(operations: readonly StoreOperation[], key: CommitKey | undefined): Promise<readonly Outcome[]> {
    const { connections, schema } = this.#parts;
    const rows = await connections.write(`SELECT ${schema}.append_1($1, $2, $3, $4, $5) AS result`, [
      JSON.stringify(operations.map(operationJson)),
      operations.map(({ task }) => storableText(task)),
      key === undefined ? null : storableText(key.writer),
      key?.n ?? null,
      this.#clock(),
    ]);
    return resultOf(rows, key).outcomes;
  }

  get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#tasks.get(id, options);
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#lists.list(query);
  }

  listAll(query: OperatorQuery): Promise<OperatorPage> {
    return this.#lists.listAll(query);
  }

  history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#tasks.history(id, from, maxBytes);
  }

  log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.#logs.read(id, after, maxBytes);
  }

  inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#taskParts.inbox(id);
  }

  steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#taskParts.steps(id);
  }

  journal(id: TaskId): Promise<readonly JournalRecord[]> {
    return this.#taskParts.journal(id);
  }

  contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    return this.#taskParts.contextValues(scope, contextId);
  }

  findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.#taskParts.findByMessage(scope, messageId);
  }

  webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#webhooks.of(task);
  }

  failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#webhooks.failed(query);
  }

  positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#tasks.positions(ids);
  }

  changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    return this.#tasks.changes(known, messages);
  }

  async claimDue(query: ClaimQuery): Promise<DueTasks> {
    // Safe cast: the function returns this.
    const found = (await this.#claim("claim_due_3", query)) as FoundDue;
    const { tasks, nextWake, nextLapse, waiting, others } = found;
    return {
      tasks: tasks.map(dueTaskOf),
      ...(typeof nextWake === "number" && { nextWake }),
      ...(typeof nextLapse === "number" && { nextLapse }),
      ...(others !== undefined && { others }),
      ...(waiting !== undefined && { waiting: waiting.map(waitingEntryOf) }),
    };
  }

  async claimWebhooks(query: ClaimQuery): Promise<readonly DueWebhook[]> {
    // Safe cast: the function returns this.
    const found = (await this.#claim("claim_webhooks_1", query)) as readonly (WebhookRow & ScopeRow)[];
    return found.map((row) => ({ webhook: webhookRecordOf(row), scope: scopeOf(row) }));
  }

  claimed(ids: readonly TaskId[], maxBytes: number): Promise<readonly ClaimedTask[]> {
    return this.#tasks.claimed(ids, maxBytes);
  }

  waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    return this.#taskParts.waitingEntries(node);
  }

  claimsOf(node: string): Promise<NodeClaims> {
    return this.#taskParts.claimsOf(node);
  }

  async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    const { connections, schema } = this.#parts;
    const values = [storableText(node), Math.round(leaseMs), this.#clock()];
    const [row] = await connections.renew(`SELECT ${schema}.heartbeat_1($1, $2, $3) AS now`, values);
    return { now: Number(row?.["now"]) };
  }

  async leave(node: string): Promise<void> {
    const { connections, schema } = this.#parts;
    await connections.query(`SELECT ${schema}.leave_1($1)`, [storableText(node)], "anything");
  }

  sweep(): Promise<number> {
    return this.#sweeper.sweep(this.#clock());
  }

  async health(): Promise<void> {
    const { connections, schema } = this.#parts;
    await connections.write(`SELECT ${schema}.health_1($1)`, ["x".repeat(PROBE_BYTES)]);
  }

  statistics(): Promise<StoreStatistics> {
    return readStatistics(this.#parts.connections, this.#parts.schema);
  }

  report(): Promise<StoreReport> {
    const { connections, schema } = this.#parts;
    return readReport((text, values) => connections.query(text, values), schema);
  }

  async sharedValue(name: string, make: () => Uint8Array): Promise<Uint8Array> {
    const { connections, schema } = this.#parts;
    const read = async (): Promise<Uint8Array | undefined> => {
      const [row] = await connections.query(`SELECT value FROM ${schema}.secret WHERE name = $1`, [name]);
      return row?.["value"] as Uint8Array | undefined; // Safe: the driver returns bytes as a Buffer.
    };
    const present = await read();
    if (present !== undefined) return present;
    const text = `INSERT INTO ${schema}.secret (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
    await connections.query(text, [name, make()], "anything");
    // Another node may have been first.
    const stored = await read();
    if (stored === undefined) throw new StoreError("unusable", `The store has no value for ${name}.`);
    return stored;
  }

  async warmUp(): Promise<void> {
    const { connections, schema } = this.#parts;
    // Nothing is found, nothing is written.
    const writes = `[{"kind":"write","task":""},{"kind":"claim","task":"","force":false}]`;
    await connections.open(
      `SELECT (SELECT count(*) FROM ${schema}.claimed_1('{}', 0)), (SELECT count(*) FROM ${schema}.changes_1('{}', '{}', '{}', 0)),
        ${schema}.claim_due_3('', '{}', 0, NULL), ${schema}.claim_webhooks_1('', '{}', 0, NULL)`,
      `SELECT ${schema}.append_1('[]', '{}', NULL, NULL, NULL), ${schema}.commit_1('${writes}', NULL, NULL, false, NULL, NULL, 0)`,
    );
  }

  async countTasks(): Promise<void> {
    await this.#count.refresh();
  }

  close(): Promise<void> {
    return this.#parts.connections.close();
  }

  async #claim(name: "claim_due_3" | "claim_webhooks_1", { node, agents, limit }: ClaimQuery): Promise<unknown> {
    const { connections, schema } = this.#parts;
    const values = [storableText(node), agents.map(storableText), limit, this.#clock()];
    const [row] = await connections.query(`SELECT ${schema}.${name}($1, $2, $3, $4) AS found`, values, "anything");
    return row?.["found"];
  }

  #clock(): number | null {
    return this.#parts.now?.() ?? null;
  }
}

interface FoundDue {
  readonly tasks: readonly DueRow[];
  readonly nextWake?: number | null;
  readonly nextLapse?: number | null;
  readonly waiting?: readonly WaitingRow[];
  readonly others?: number;
}

interface CommitResult {
  readonly outcomes: readonly Outcome[];
  /** The number of the later commit that the writer has made. */
  readonly late?: number;
  readonly room: number | null;
}

/** The result of a commit. Throws `lost` if a later commit of its writer was applied before. */
function resultOf(rows: readonly Row[], key: CommitKey | undefined): CommitResult {
  // Safe cast: the function returns one row with this.
  const [{ result }] = rows as unknown as [{ readonly result: CommitResult }];
  if (result.late === undefined) return result;
  throw new StoreError(
    "lost",
    `Commit ${key?.n} of ${key?.writer} arrived after commit ${result.late}; nothing of it was applied.`,
  );
}

function outcomeOf(outcome: Outcome): Outcome {
  if (outcome.status === "repeated") return { ...outcome, task: originalText(outcome.task) as TaskId }; // Safe: a stored id.
  if ("node" in outcome && outcome.node !== undefined) return { ...outcome, node: originalText(outcome.node) };
  return outcome;
}
