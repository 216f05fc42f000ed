import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { isSameScope } from "../../protocol/principal.ts";
import type { GetOptions, HistoryEntry, Position, TaskRecord } from "../contract.ts";
import { inTransaction } from "./connection.ts";
import type { LogReader } from "./log-reader.ts";
import { splitMessages } from "./message-text.ts";
import type { ScopeReader } from "./scope-ids.ts";
import { stateOf } from "./state-code.ts";

/** The columns of {@link TaskRow}, in its order. */
export const TASK_COLUMNS =
  "pk, id, scope, context, state, status_at, ended, active, wake_at, node, epoch, seq, first_seq, created_at, whole, dialect, status, metadata, runner, messages";

type Text = string | null;
/** A row as an array, which is the quickest form to read. The last is there where artifacts were asked for. */
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
  status: string,
  metadata: Text,
  runner: string,
  messages: Text,
  artifacts?: Text,
];

/** Reads tasks, without their logs. */
export class TaskReader {
  readonly #database: DatabaseSync;
  readonly #scopes: ScopeReader;
  readonly #logs: LogReader;
  readonly #head: StatementSync;
  readonly #whole: StatementSync;
  readonly #position: StatementSync;
  readonly #messages: StatementSync;

  constructor(database: DatabaseSync, parts: { readonly scopes: ScopeReader; readonly logs: LogReader }) {
    this.#database = database;
    this.#scopes = parts.scopes;
    this.#logs = parts.logs;
    this.#head = prepareRows(database, `SELECT ${TASK_COLUMNS} FROM task WHERE id = ?`);
    this.#whole = prepareRows(database, `SELECT ${TASK_COLUMNS}, artifacts FROM task WHERE id = ?`);
    this.#position = database.prepare("SELECT pk, seq, ended FROM task WHERE id = ?");
    this.#messages = database.prepare(
      "SELECT after, inbox, body FROM message WHERE task = ? AND after <= ? ORDER BY n DESC LIMIT ?",
    );
  }

  get(id: TaskId, options: GetOptions): TaskRecord | undefined {
    const statement = options.artifacts ? this.#whole : this.#head;
    const row = oneRow(statement.get(id));
    if (row === undefined) return undefined;
    const scope = this.#scopes.scopeOf(row[2]);
    if (scope === undefined) return undefined;
    if (options.scope !== undefined && !isSameScope(options.scope, scope)) return undefined;
    if (row[14] === 1) return this.recordOf(row, options);
    // It may change between two queries: read it again with all that belongs to it in one transaction.
    return inTransaction(this.#database, () => {
      const current = oneRow(statement.get(id));
      return current && this.recordOf(current, options);
    });
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

  /** Within a transaction, unless the row is whole. `undefined`: the task was deleted since. */
  recordOf(row: TaskRow, options: Pick<GetOptions, "history" | "upTo">): TaskRecord | undefined {
    const scope = this.#scopes.scopeOf(row[2]);
    if (scope === undefined) return undefined;
    const [pk, id, , contextId, state, statusAt, ended, active, wakeAt, node, epoch, seq, firstSeq, ...rest] = row;
    const [createdAt, , dialect, status, metadata, runner, , artifacts] = rest;
    return {
      id,
      contextId,
      scope,
      dialect,
      createdAt,
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
      firstSeq,
      epoch,
      ...(node !== null && { node }),
      history: options.history === 0 ? [] : this.#historyOf(row, options),
      ...(typeof artifacts === "string" && { artifacts }),
    };
  }

  #historyOf(row: TaskRow, { history: limit, upTo }: Pick<GetOptions, "history" | "upTo">): readonly HistoryEntry[] {
    const messages = row[19] === null ? [] : splitMessages(row[19]);
    const inline = upTo === undefined ? messages : messages.filter((entry) => entry.after <= upTo);
    const later = row[14] === 1 ? [] : this.#laterMessages(row[0], upTo ?? Number.MAX_SAFE_INTEGER, limit ?? -1);
    const all = inline.concat(later);
    return limit === undefined ? all : all.slice(-limit);
  }

  #laterMessages(pk: number, upTo: number, limit: number): HistoryEntry[] {
    const entries = this.#messages.all(pk, upTo, limit).map((row) => {
      const entry = { after: Number(row["after"]), body: String(row["body"]) };
      return row["inbox"] === null ? entry : { ...entry, inbox: String(row["inbox"]) };
    });
    return entries.reverse();
  }
}

/** A statement whose rows are arrays. */
export function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** What a statement of {@link TASK_COLUMNS} yields: the file's schema vouches for the types. */
export function oneRow(row: unknown): TaskRow | undefined {
  return row as TaskRow | undefined;
}
