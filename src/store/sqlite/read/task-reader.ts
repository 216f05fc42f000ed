import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import { isSameScope, type Scope } from "../../../protocol/principal.ts";
import type { GetOptions, HistoryEntry, KnownTask, Position, TaskChange, TaskRecord } from "../../contract.ts";
import { changeOf } from "../../task-change.ts";
import { inTransaction } from "../connection.ts";
import { splitMessages } from "../row/message-text.ts";
import { stateOf } from "../row/state-code.ts";
import type { ScopeReader } from "../scope-ids.ts";
import type { LogReader } from "./log-reader.ts";
import { RecentRecords } from "./recent-records.ts";

/** The columns of {@link TaskRow} in its order, up to the messages. */
const HEAD_COLUMNS =
  "pk, id, scope, context, state, status_at, ended, active, wake_at, node, epoch, seq, first_seq, created_at, whole, dialect, parent, root, status, metadata, runner";
/**
 * Two columns: the artifacts, if they have at most this many bytes or if the log is gone (they cannot be computed any more); and their size,
 * which SQLite knows without reading them.
 */
const ARTIFACTS = "CASE WHEN octet_length(artifacts) <= ? OR first_seq > 1 THEN artifacts END, octet_length(artifacts)";

/** The columns to select for a {@link TaskRow}. With artifacts, the first parameter of the statement is their maximum size. */
function taskColumns(options: { readonly messages: boolean; readonly artifacts: boolean }): string {
  const { messages, artifacts } = options;
  return `${HEAD_COLUMNS}, ${messages ? "messages" : "NULL"}${artifacts ? `, ${ARTIFACTS}` : ""}`;
}

type Text = string | null;
/** A row as an array, the fastest form to read. The last two values are present if artifacts were requested. */
export type TaskRow = readonly [
  pk: number,
  id: TaskId,
  scope: number,
  context: ContextId,
  state: number,
  statusAt: number,
  ended: number,
  active: number,
  wakeAt: number | null,
  node: Text,
  epoch: number,
  seq: number,
  firstSeq: number,
  createdAt: number,
  whole: number,
  dialect: string,
  parent: TaskId | null,
  root: TaskId | null,
  status: string,
  metadata: Text,
  runner: string,
  messages: Text,
  artifacts?: Text,
  artifactBytes?: number | null,
];

/** A row and the record made from it. */
export interface ReadTask {
  readonly row: TaskRow;
  readonly record: TaskRecord;
}

type SizeOptions = HistoryOptions & { readonly artifacts: boolean; readonly maxBytes: number };
type HistoryOptions = Pick<GetOptions, "history" | "upTo" | "largeBytes">;

/** Reads tasks without their logs. */
export class TaskReader {
  /** Must be cleared when finished tasks are deleted or changed. */
  readonly recent: RecentRecords = new RecentRecords();
  readonly #database: DatabaseSync;
  readonly #scopes: ScopeReader;
  readonly #logs: LogReader;
  readonly #head: StatementSync;
  readonly #whole: StatementSync;
  readonly #byKey = new Map<string, StatementSync>();
  readonly #position: StatementSync;
  readonly #messages: StatementSync;
  readonly #messageSizes: StatementSync;
  readonly #messageCount: StatementSync;
  readonly #inlineMessages: StatementSync;
  readonly #messagesFrom: StatementSync;

  constructor(database: DatabaseSync, parts: { readonly scopes: ScopeReader; readonly logs: LogReader }) {
    this.#database = database;
    this.#scopes = parts.scopes;
    this.#logs = parts.logs;
    const select = (artifacts: boolean): StatementSync =>
      prepareRows(database, `SELECT ${taskColumns({ messages: true, artifacts })} FROM task WHERE id = ?`);
    this.#head = select(false);
    this.#whole = select(true);
    this.#position = database.prepare("SELECT pk, seq, ended FROM task WHERE id = ?");
    this.#messages = database.prepare(
      "SELECT after, inbox, body FROM message WHERE task = ? AND after <= ? ORDER BY n DESC LIMIT ?",
    );
    this.#messageSizes = database.prepare(
      `SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM (
         SELECT octet_length(body) AS bytes FROM message WHERE task = ? AND after <= ? ORDER BY n DESC LIMIT ?)`,
    );
    this.#messageCount = database.prepare("SELECT count(*) AS n FROM message WHERE task = ? AND after <= ?");
    this.#inlineMessages = database.prepare("SELECT pk, messages FROM task WHERE id = ?");
    this.#messagesFrom = database.prepare(
      "SELECT after, inbox, body FROM message WHERE task = ? ORDER BY n LIMIT -1 OFFSET ?",
    );
  }

  get(id: TaskId, options: GetOptions): TaskRecord | undefined {
    const recent = this.recent.get(id, options);
    if (recent !== undefined) return isAllowed(recent.scope, options) ? recent : undefined;
    const record = this.#get(id, options);
    if (record !== undefined) this.recent.add(record, options);
    return record;
  }

  #get(id: TaskId, options: GetOptions): TaskRecord | undefined {
    const select = (): TaskRow | undefined =>
      oneRow(options.artifacts ? this.#whole.get(largeBytesOf(options), id) : this.#head.get(id));
    const row = select();
    if (row === undefined) return undefined;
    const scope = this.#scopes.scopeOf(row[2]);
    if (scope === undefined) return undefined;
    if (!isAllowed(scope, options)) return undefined;
    if (row[14] === 1) return this.#recordOf(row, options);
    // The task may change between two queries: read it again with all its rows in one transaction.
    return inTransaction(this.#database, () => {
      const current = select();
      return current && this.#recordOf(current, options);
    });
  }

  /** Reads these tasks one by one, each when it is needed. Call it within the transaction that found the keys. */
  *byKeys(keys: Iterable<number>, options: Omit<GetOptions, "scope">): Generator<ReadTask> {
    const columns = taskColumns({ messages: options.history !== 0, artifacts: options.artifacts });
    const sql = `SELECT ${columns} FROM task WHERE pk = ?`;
    const statement = this.#byKey.get(sql) ?? prepareRows(this.#database, sql);
    this.#byKey.set(sql, statement);
    for (const key of keys) {
      const row = oneRow(options.artifacts ? statement.get(largeBytesOf(options), key) : statement.get(key));
      const record = row && this.#recordOf(row, options);
      if (row !== undefined && record !== undefined) yield { row, record };
    }
  }

  positions(ids: readonly TaskId[]): Position[] {
    return inTransaction(this.#database, () => ids.flatMap((id) => this.#positionOf(id)));
  }

  #positionOf(id: TaskId): Position[] {
    const row = this.#position.get(id);
    if (row === undefined) return [];
    const ended = row["ended"] === 1;
    const seq = Number(row["seq"]);
    return [{ id, seq: ended ? seq : Math.max(seq, this.#logs.lastSeq(id, Number(row["pk"]))), ended }];
  }

  changes(known: readonly KnownTask[], messages: number): TaskChange[] {
    return inTransaction(this.#database, () =>
      known.flatMap((task) => {
        const { id, after, maxBytes } = task;
        const [position] = this.#positionOf(id);
        const row = position !== undefined && position.seq > after ? oneRow(this.#head.get(id)) : undefined;
        const record = row && this.#recordOf(row, { history: messages });
        return record === undefined ? [] : [changeOf(task, record, this.#logs.readWithin(id, after, maxBytes))];
      }),
    );
  }

  history(id: TaskId, from: number, maxBytes: number): readonly HistoryEntry[] {
    return inTransaction(this.#database, () => {
      const row = this.#inlineMessages.get(id);
      if (row === undefined) return [];
      const { messages } = row;
      const inline = typeof messages === "string" ? splitMessages(messages) : [];
      const page: HistoryEntry[] = [];
      let bytes = 0;
      const isFull = (entry: HistoryEntry): boolean => {
        bytes += entry.body.length;
        if (page.length > 0 && bytes > maxBytes) return true;
        page.push(entry);
        return false;
      };
      if (inline.slice(from).some(isFull)) return page;
      const skipped = Math.max(0, from - inline.length);
      for (const later of this.#messagesFrom.iterate(Number(row["pk"]), skipped)) if (isFull(entryOf(later))) break;
      return page;
    });
  }

  /** Call it within a transaction unless the row is whole. `undefined`: the task was deleted in between. */
  #recordOf(row: TaskRow, options: HistoryOptions): TaskRecord | undefined {
    const scope = this.#scopes.scopeOf(row[2]);
    if (scope === undefined) return undefined;
    const [pk, id, , contextId, state, statusAt, ended, active, wakeAt, node, epoch, seq, firstSeq, ...rest] = row;
    const [createdAt, , dialect, parent, root, status, metadata, runner, , artifacts] = rest;
    return {
      id,
      contextId,
      scope,
      dialect,
      createdAt,
      ...(parent !== null && { parent }),
      ...(root !== null && { root }),
      head: {
        state: stateOf(state),
        status,
        statusAt,
        ...(metadata !== null && { metadata }),
        runner,
        active: active === 1,
        ...(wakeAt !== null && { wakeAt }),
      },
      seq: ended === 1 ? seq : Math.max(seq, this.#logs.lastSeq(id, pk)),
      // 0 means that the log is never dropped.
      firstSeq: Math.max(1, firstSeq),
      epoch,
      ...(node !== null && { node }),
      ...(options.history === 0 ? NO_HISTORY : this.#historyOf(row, options)),
      ...(typeof artifacts === "string" && { artifacts }),
    };
  }

  /** Approximate bytes of a row's record, including parts left out as large; or any number greater than `maxBytes`. */
  bytesOf(row: TaskRow, record: TaskRecord, options: SizeOptions): number {
    const { status, metadata = "" } = record.head;
    let bytes = status.length + metadata.length;
    if (record.largeHistory === undefined) for (const { body } of record.history) bytes += body.length;
    else bytes += this.#largeHistoryBytes(row, options);
    if (options.artifacts) bytes += row[23] ?? this.#logs.sizeOf(row[1], row[0], options.maxBytes);
    return bytes;
  }

  #largeHistoryBytes(row: TaskRow, { history = -1, upTo = Number.MAX_SAFE_INTEGER }: HistoryOptions): number {
    const sizes = this.#messageSizes.get(row[0], upTo, history);
    return (row[21]?.length ?? 0) + Number(sizes?.["bytes"]);
  }

  #historyOf(row: TaskRow, options: HistoryOptions): Pick<TaskRecord, "history" | "largeHistory"> {
    const { history: limit, upTo, largeBytes } = options;
    const messages = row[21] === null ? [] : splitMessages(row[21]);
    const inline = upTo === undefined ? messages : messages.filter((entry) => entry.after <= upTo);
    const isSmall = row[14] === 1 && (row[21]?.length ?? 0) <= (largeBytes ?? 0);
    if (largeBytes !== undefined && !isSmall) {
      const large = this.#largeHistory(row, inline, { ...options, largeBytes });
      if (large !== undefined) return { history: [], largeHistory: large };
    }
    const later = row[14] === 1 ? [] : this.#laterMessages(row[0], upTo ?? Number.MAX_SAFE_INTEGER, limit ?? -1);
    const all = inline.concat(later);
    return { history: limit === undefined ? all : all.slice(-limit) };
  }

  /** The range of requested messages, if they exceed `largeBytes`. */
  #largeHistory(
    row: TaskRow,
    inline: readonly HistoryEntry[],
    options: HistoryOptions & { readonly largeBytes: number },
  ): TaskRecord["largeHistory"] {
    const { history: limit, upTo = Number.MAX_SAFE_INTEGER, largeBytes } = options;
    const sizes = row[14] === 1 ? undefined : this.#messageSizes.get(row[0], upTo, limit ?? -1);
    const later = Number(sizes?.["n"] ?? 0);
    const first = limit === undefined ? 0 : Math.max(0, inline.length + later - limit);
    let bytes = Number(sizes?.["bytes"] ?? 0);
    for (const { body } of inline.slice(first)) bytes += body.length;
    if (bytes <= largeBytes) return undefined;
    const all = inline.length + (row[14] === 1 ? 0 : Number(this.#messageCount.get(row[0], upTo)?.["n"]));
    return { from: limit === undefined ? 0 : Math.max(0, all - limit), to: all };
  }

  #laterMessages(pk: number, upTo: number, limit: number): HistoryEntry[] {
    return this.#messages.all(pk, upTo, limit).map(entryOf).reverse();
  }
}

function isAllowed(scope: Scope, options: Pick<GetOptions, "scope">): boolean {
  return options.scope === undefined || isSameScope(options.scope, scope);
}

const NO_HISTORY: Pick<TaskRecord, "history"> = { history: [] };

/** As a parameter of {@link taskColumns}. */
function largeBytesOf({ largeBytes }: Pick<GetOptions, "largeBytes">): number {
  return largeBytes ?? Number.MAX_SAFE_INTEGER;
}

function entryOf(row: Record<string, SQLOutputValue>): HistoryEntry {
  const entry = { after: Number(row["after"]), body: String(row["body"]) };
  return row["inbox"] === null ? entry : { ...entry, inbox: String(row["inbox"]) };
}

/** A statement whose rows are arrays. */
function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The rows of a statement with {@link taskColumns}. Safe cast: the schema of the file guarantees the types. */
function oneRow(row: unknown): TaskRow | undefined {
  return row as TaskRow | undefined;
}
