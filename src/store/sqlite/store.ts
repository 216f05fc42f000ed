import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createClock } from "../../internal/clock.ts";
import { makeFolder } from "../../internal/make-folder.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import {
  type FailedWebhooksQuery,
  type GetOptions,
  type HistoryEntry,
  type InboxEntry,
  type ListPage,
  type ListQuery,
  type LogEntry,
  type MessageTrace,
  type Outcome,
  type Position,
  type Retention,
  type StepRecord,
  type Store,
  StoreError,
  type StoreOperation,
  type TaskRecord,
  type WebhookRecord,
} from "../contract.ts";
import { type Durability, openForReading } from "./connection.ts";
import { lockHolderOf, makePrivate } from "./file-identity.ts";
import { lockOwner, type OwnerLock } from "./owner-lock.ts";
import { HotIndex } from "./read/hot-index.ts";
import { ListReader } from "./read/list-reader.ts";
import { LogReader } from "./read/log-reader.ts";
import { TaskReader } from "./read/task-reader.ts";
import { WebhookReader } from "./read/webhook-reader.ts";
import { pack } from "./row/pack.ts";
import { unpackOutcomes } from "./row/packed-outcomes.ts";
import { ScopeReader } from "./scope-ids.ts";
import { failureOf, storeError } from "./sqlite-error.ts";
import type { CommitFault, WriterReply } from "./write/writer-messages.ts";
import { WriterThread } from "./write/writer-thread.ts";

export interface SqliteStoreOptions {
  /** Path of the file. The file and its folders are created if they do not exist. */
  readonly file: string;
  /** Default `full`. */
  readonly durability?: Durability;
  /** Default: all tasks are kept. */
  readonly retention?: Retention;
  /** The store's clock in milliseconds. Default: the system clock, read once and continued monotonically, so that setting it has no effect. */
  readonly now?: () => number;
  /** Milliseconds that a write waits for a lock of another program. Default 1000. */
  readonly busyTimeout?: number;
  /** For tests: a failure to inject into the next commit. */
  readonly fault?: () => CommitFault | undefined;
  /** For tests: maximum number of pages of the file. */
  readonly maxPages?: number;
}

/**
 * Opens a store in an SQLite file. A file has one owner at a time: a second process is refused with the process id of the owner; after a crash
 * of the owner, the next process can open it immediately. Rejects with a {@link StoreError} `unusable` that says what to do.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = locate(options.file);
  const lock = lockOwnerOf(file);
  try {
    const { durability = "full", retention = {}, busyTimeout = 1000, maxPages } = options;
    const connection = { file, exclusive: lock.exclusive, durability, busyTimeout };
    const hot = new HotIndex();
    const writer = await WriterThread.start({
      ...connection,
      retention,
      ...(maxPages !== undefined && { maxPages }),
      onMoved: (tasks) => {
        for (const [task, through] of tasks) hot.drop(task, through);
      },
    });
    try {
      return new SqliteStore(options, { file, lock, hot, writer, reader: openForReading(connection) });
    } catch (thrown) {
      await writer.close();
      throw storeError(failureOf(thrown, file), thrown);
    }
  } catch (thrown) {
    lock.release();
    throw withHolder(thrown, file);
  }
}

/** Adds the id of the process that locked the file to the error, if the operating system reports it. */
function withHolder(thrown: unknown, file: string): unknown {
  if (!(thrown instanceof StoreError) || thrown.code !== "busy") return thrown;
  const pid = lockHolderOf(file);
  if (pid === undefined) return thrown;
  return new StoreError("busy", `${thrown.message} It is process ${pid}.`, { cause: thrown });
}

/** The resolved path of the file: the lock is beside it. */
function locate(file: string): string {
  const path = resolve(file);
  try {
    makeFolder(dirname(path));
  } catch (thrown) {
    throw new StoreError("unusable", `The folder of ${path} cannot be created (${messageOf(thrown)}).`, {
      cause: thrown,
    });
  }
  try {
    return realpathSync(path);
  } catch {
    const place = join(realpathSync(dirname(path)), basename(path));
    // Create the file before SQLite does, readable by its owner only; SQLite gives its other files the same mode. If this fails, opening reports why.
    makePrivate(place);
    return place;
  }
}

function lockOwnerOf(file: string): OwnerLock {
  try {
    return lockOwner(file);
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    const advice = "Check that you may write to the folder.";
    throw new StoreError("unusable", `${file}.lock cannot be written (${messageOf(thrown)}). ${advice}`, {
      cause: thrown,
    });
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

interface SqliteStoreParts {
  readonly file: string;
  readonly lock: OwnerLock;
  readonly hot: HotIndex;
  readonly writer: WriterThread;
  readonly reader: DatabaseSync;
}

/** Writes go to the writer thread; reads use another connection on this thread and never wait for a write. */
class SqliteStore implements Store {
  readonly #parts: SqliteStoreParts;
  readonly #now: () => number;
  readonly #fault: (() => CommitFault | undefined) | undefined;
  readonly #logs: LogReader;
  readonly #tasks: TaskReader;
  readonly #lists: ListReader;
  readonly #webhooks: WebhookReader;
  readonly #inbox: StatementSync;
  readonly #steps: StatementSync;
  readonly #byMessage: StatementSync;
  readonly #due: StatementSync;
  readonly #nextWake: StatementSync;
  /** When each node's lease expires. All nodes are in this process, so the file does not store it. */
  readonly #nodes = new Map<string, number>();
  #closing: Promise<void> | undefined;

  constructor({ now = createClock().now, fault }: SqliteStoreOptions, parts: SqliteStoreParts) {
    const { reader, hot } = parts;
    this.#parts = parts;
    this.#now = now;
    this.#fault = fault;
    const scopes = new ScopeReader(reader);
    this.#logs = new LogReader(reader, hot);
    this.#tasks = new TaskReader(reader, { scopes, logs: this.#logs });
    this.#lists = new ListReader(reader, { scopes, tasks: this.#tasks });
    this.#webhooks = new WebhookReader(reader);
    const inTask = "JOIN task ON task.pk = task WHERE task.id = ? ORDER BY n";
    this.#inbox = reader.prepare(`SELECT inbox.id, cancel, sealed, at, body FROM inbox ${inTask}`);
    this.#steps = reader.prepare(`SELECT key, value FROM step ${inTask}`);
    this.#byMessage = reader.prepare(
      `SELECT id, created_at, digest FROM task LEFT JOIN sent ON sent.task = pk
       WHERE scope = (SELECT id FROM scope WHERE agent = ? AND tenant = ? AND owner = ?) AND message_id = ?
       ORDER BY pk DESC LIMIT 1`,
    );
    const isFree = "(node IS NULL OR node NOT IN (SELECT value FROM json_each(?1)))";
    this.#due = reader.prepare(
      `SELECT id FROM task WHERE pk IN (
         SELECT pk FROM task INDEXED BY task_live WHERE ended = 0 AND (node IS NOT NULL OR active = 1) AND active = 1 AND ${isFree}
         UNION SELECT pk FROM task INDEXED BY task_asleep WHERE ended = 0 AND wake_at <= ?2 AND ${isFree}
         UNION SELECT task FROM inbox
       ) AND ended = 0 AND ${isFree} ORDER BY pk LIMIT ?3`,
    );
    this.#nextWake = reader.prepare(
      `SELECT wake_at FROM task INDEXED BY task_asleep
       WHERE ended = 0 AND wake_at IS NOT NULL AND ${isFree} ORDER BY wake_at LIMIT 1`,
    );
  }

  async commit(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    this.#mustServe();
    const commands = pack(operations);
    return this.#parts.writer.request(
      { kind: "commit", commands, living: this.#living(), fault: this.#fault?.() },
      (reply) => this.#committed(operations, reply),
    );
  }

  async get(id: TaskId, options: GetOptions): Promise<TaskRecord | undefined> {
    return this.#read(() => this.#tasks.get(id, options));
  }

  async list(query: ListQuery): Promise<ListPage> {
    return this.#read(() => this.#lists.list(query));
  }

  async history(id: TaskId, from: number, maxBytes: number): Promise<readonly HistoryEntry[]> {
    return this.#read(() => this.#tasks.history(id, from, maxBytes));
  }

  async log(id: TaskId, after: number, maxBytes: number): Promise<readonly LogEntry[]> {
    return this.#read(() => this.#logs.read(id, after, maxBytes));
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    const rows = this.#read(() => this.#inbox.all(id));
    return rows.map((row) => ({
      id: String(row["id"]),
      kind: row["cancel"] === 1 ? "cancel" : "message",
      body: String(row["body"]),
      sealed: row["sealed"] === 1,
      at: Number(row["at"]),
    }));
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    const rows = this.#read(() => this.#steps.all(id));
    return rows.map((row) => ({ key: String(row["key"]), value: String(row["value"]) }));
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    const row = this.#read(() => this.#byMessage.get(scope.agent, scope.tenant, scope.owner, messageId));
    if (row === undefined) return undefined;
    const { digest } = row;
    return { task: idOf(row), createdAt: Number(row["created_at"]), ...(typeof digest === "string" && { digest }) };
  }

  async webhooks(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#webhooks.of(task));
  }

  async unheldWebhooks(limit: number): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#webhooks.unheld(this.#living(), limit));
  }

  async failedWebhooks(query: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    return this.#read(() => this.#webhooks.failed(query));
  }

  async positions(ids: readonly TaskId[]): Promise<readonly Position[]> {
    return this.#read(() => this.#tasks.positions(ids));
  }

  async due(limit: number): Promise<readonly TaskId[]> {
    return this.#read(() => this.#due.all(JSON.stringify(this.#living()), this.#now(), limit).map(idOf));
  }

  async nextWake(): Promise<number | undefined> {
    const row = this.#read(() => this.#nextWake.get(JSON.stringify(this.#living())));
    return row === undefined ? undefined : Number(row["wake_at"]);
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
    return this.#parts.writer.request({ kind: "sweep", now: this.#now() }, (reply) =>
      reply.kind === "done" ? reply.count : 0,
    );
  }

  async health(): Promise<void> {
    this.#mustServe();
    await this.#parts.writer.request({ kind: "probe" }, () => undefined);
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

  #committed(operations: readonly StoreOperation[], reply: WriterReply): readonly Outcome[] {
    if (reply.kind !== "committed") throw new Error(`The writer answered a commit with ${reply.kind}.`);
    const { rows } = reply;
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

function idOf(row: Record<string, unknown>): TaskId {
  return String(row["id"]) as TaskId; // Safe cast: written from a TaskId.
}

function closedError(): StoreError {
  return new StoreError("closed", "The store is closed.");
}
