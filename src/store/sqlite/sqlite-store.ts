import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import { CommitResults } from "../commit-results.ts";
import {
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
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type StoreReport,
  type StoreStatistics,
  type TaskChange,
  type TaskRecord,
  type WaitingEntry,
  type WebhookRecord,
} from "../contract.ts";
import { nodeStatistics } from "../statistics.ts";
import { inTransaction } from "./connection.ts";
import type { OwnerLock } from "./owner-lock.ts";
import type { HotIndex } from "./read/hot-index.ts";
import { ListReader } from "./read/list-reader.ts";
import { LogReader } from "./read/log-reader.ts";
import { OperatorListReader } from "./read/operator-list-reader.ts";
import { readReport } from "./read/report-reader.ts";
import { TaskIndex } from "./read/task-index.ts";
import { TaskPartsReader } from "./read/task-parts-reader.ts";
import { TaskRanges } from "./read/task-ranges.ts";
import { TaskReader } from "./read/task-reader.ts";
import { WebhookReader } from "./read/webhook-reader.ts";
import { pack } from "./row/pack.ts";
import { unpackOutcomes } from "./row/packed-outcomes.ts";
import { ScopeReader } from "./scope-ids.ts";
import { failureOf, storeError } from "./sqlite-error.ts";
import type { ClaimRequest } from "./write/claimer.ts";
import type { CommitFault, WriterReply } from "./write/writer-messages.ts";
import type { WriterThread } from "./write/writer-thread.ts";

export interface SqliteStoreParts {
  readonly file: string;
  readonly lock: OwnerLock;
  readonly hot: HotIndex;
  readonly writer: WriterThread;
  readonly reader: DatabaseSync;
  readonly now: () => number;
  readonly fault: (() => CommitFault | undefined) | undefined;
}

/** Writes go to the writer thread; reads use another connection on this thread and never wait for a write. */
export class SqliteStore implements Store {
  readonly #parts: SqliteStoreParts;
  readonly #now: () => number;
  readonly #fault: (() => CommitFault | undefined) | undefined;
  readonly #logs: LogReader;
  readonly #tasks: TaskReader;
  readonly #lists: ListReader;
  readonly #webhooks: WebhookReader;
  readonly #operatorLists: OperatorListReader;
  readonly #taskParts: TaskPartsReader;
  /** A file has one owner, so only this process repeats its commits: their outcomes need not be stored. */
  readonly #commits = new CommitResults();
  /** The commits with a key whose outcomes are not known yet. */
  readonly #underWay = new Map<string, Promise<readonly Outcome[]>>();
  /** When each node's lease expires. All nodes are in this process, so the file does not store it. */
  readonly #nodes = new Map<string, number>();
  #closing: Promise<void> | undefined;

  constructor(parts: SqliteStoreParts) {
    const { reader, hot } = parts;
    this.#parts = parts;
    this.#now = parts.now;
    this.#fault = parts.fault;
    const scopes = new ScopeReader(reader);
    this.#logs = new LogReader(reader, hot);
    this.#tasks = new TaskReader(reader, { scopes, logs: this.#logs });
    const lists = { scopes, tasks: this.#tasks, index: new TaskIndex(reader), ranges: new TaskRanges(reader) };
    this.#lists = new ListReader(reader, lists);
    this.#operatorLists = new OperatorListReader(reader, lists);
    this.#taskParts = new TaskPartsReader(reader);
    this.#webhooks = new WebhookReader(reader);
  }

  async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    this.#mustServe();
    if (key === undefined) return this.#commit(operations);
    const name = `${key.n}/${key.writer}`;
    const repeated = this.#commits.find(key) ?? this.#underWay.get(name);
    if (repeated !== undefined) return repeated;
    const commit = this.#commit(operations);
    this.#underWay.set(name, commit);
    try {
      const outcomes = await commit;
      this.#commits.add(key, outcomes);
      return outcomes;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#read(() => this.#tasks.get(id, options));
  }

  async list(query: ListQuery): Promise<ListPage> {
    return this.#read(() => this.#lists.list(query));
  }

  async listAll(query: OperatorQuery): Promise<OperatorPage> {
    return this.#read(() => this.#operatorLists.list(query));
  }

  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#read(() => this.#tasks.history(id, from, maxBytes));
  }

  async log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.#read(() => this.#logs.read(id, after, maxBytes));
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    return this.#read(() => this.#taskParts.inbox(id));
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    return this.#read(() => this.#taskParts.steps(id));
  }

  async journal(id: TaskId): Promise<readonly JournalRecord[]> {
    return this.#read(() => this.#taskParts.journal(id));
  }

  async contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    return this.#read(() => this.#taskParts.contextValues(scope, contextId));
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    return this.#read(() => this.#taskParts.findByMessage(scope, messageId));
  }

  async webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#webhooks.of(task));
  }

  async failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#webhooks.failed(query));
  }

  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#read(() => this.#tasks.positions(ids));
  }

  async changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
    return this.#read(() => this.#tasks.changes(known, messages));
  }

  async claimDue(query: ClaimQuery): Promise<DueTasks> {
    this.#mustServe();
    return this.#parts.writer.request({ kind: "claim-due", claim: this.#claimRequest(query) }, (reply) => {
      if (reply.kind !== "claimed-due") throw unexpectedReply(reply);
      return reply.due;
    });
  }

  async claimWebhooks(query: ClaimQuery): Promise<readonly DueWebhook[]> {
    this.#mustServe();
    return this.#parts.writer.request({ kind: "claim-webhooks", claim: this.#claimRequest(query) }, (reply) => {
      if (reply.kind !== "claimed-webhooks") throw unexpectedReply(reply);
      return reply.webhooks;
    });
  }

  async waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    return this.#read(() => this.#taskParts.waitingEntries(node));
  }

  async claimsOf(node: string): Promise<NodeClaims> {
    return this.#read(() =>
      inTransaction(this.#parts.reader, () => ({
        tasks: this.#taskParts.leasesOf(node),
        webhooks: this.#webhooks.claimsOf(node),
      })),
    );
  }

  async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    this.#mustServe();
    const now = this.#now();
    this.#nodes.set(node, now + leaseMs);
    return { now };
  }

  async leave(node: string): Promise<void> {
    this.#mustServe();
    this.#nodes.delete(node);
    await this.#parts.writer.request({ kind: "leave", node }, () => undefined);
  }

  async sweep(): Promise<number> {
    this.#mustServe();
    return this.#parts.writer.request({ kind: "sweep", now: this.#now() }, (reply) => {
      this.#tasks.recent.clear();
      return reply.kind === "done" ? reply.count : 0;
    });
  }

  async health(): Promise<void> {
    this.#mustServe();
    await this.#parts.writer.request({ kind: "probe" }, () => undefined);
  }

  async statistics(): Promise<StoreStatistics> {
    this.#mustServe();
    const { tasks, parked, held } = await this.#parts.writer.request({ kind: "totals" }, (reply) => {
      if (reply.kind !== "totals") throw unexpectedReply(reply);
      return reply.totals;
    });
    return { tasks, parked, nodes: nodeStatistics(held, this.#nodes), bytes: await bytesOf(this.#parts.file) };
  }

  async report(): Promise<StoreReport> {
    const { reader, file } = this.#parts;
    const totals = await this.statistics();
    return this.#read(() => readReport(reader, { file, now: this.#now(), leases: this.#nodes, totals }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { reader, writer, lock } = this.#parts;
    // Close readers first: an open reader keeps the writer from truncating the write-ahead log.
    reader.close();
    await writer.close();
    lock.release();
  }

  #commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    const commands = pack(operations);
    return this.#parts.writer.request(
      { kind: "commit", commands, living: this.#living(), fault: this.#fault?.() },
      (reply) => this.#committed(operations, reply),
    );
  }

  #committed(operations: readonly StoreOperation[], reply: WriterReply): readonly Outcome[] {
    if (reply.kind !== "committed") throw unexpectedReply(reply);
    const { rows, deleted } = reply;
    if (deleted) this.#tasks.recent.clear();
    const outcomes = unpackOutcomes(reply.outcomes);
    for (let index = 0; index < rows.length; index += 2) {
      const at = rows[index] ?? -1;
      const operation = operations[at];
      if (operation?.kind !== "write") continue;
      const last = (outcomes[at]?.status === "ok" ? operation.end?.entry : undefined) ?? operation.entries.at(-1);
      this.#parts.hot.add(operation.task, rows[index + 1] ?? 0, last?.seq ?? 0);
    }
    return outcomes;
  }

  #claimRequest({ node, agents, limit }: ClaimQuery): ClaimRequest {
    return { node, agents, limit, living: this.#living(), now: this.#now() };
  }

  #living(): string[] {
    const now = this.#now();
    const living: string[] = [];
    for (const [node, expires] of this.#nodes) if (expires > now) living.push(node);
    return living;
  }

  #read<T>(read: () => T): T {
    this.#mustServe();
    try {
      return read();
    } catch (thrown) {
      throw storeError(failureOf(thrown, this.#parts.file), thrown);
    }
  }

  #mustServe(): void {
    if (this.#closing !== undefined) throw closedError();
    if (this.#parts.writer.failure !== undefined) throw storeError(this.#parts.writer.failure);
  }
}

/** The size of the database and of its write-ahead log, which may not exist. */
async function bytesOf(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function unexpectedReply({ kind }: WriterReply): Error {
  return new Error(`The writer sent the wrong kind of reply: ${kind}.`);
}

function closedError(): StoreError {
  return new StoreError("closed", "The store is closed.");
}
