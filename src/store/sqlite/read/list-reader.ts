import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ListPage, ListQuery, TaskRecord } from "../../contract.ts";
import { inTransaction } from "../connection.ts";
import { FINEST, LEVELS } from "../counters.ts";
import { STATE_CODE } from "../row/state-code.ts";
import type { ScopeReader } from "../scope-ids.ts";
import { largeBytesOf, oneRow, prepareRows, type TaskReader, taskColumns } from "./task-reader.ts";

/** The filters of a list in the form of the file. */
interface Filter {
  readonly scope: number;
  readonly context: string | undefined;
  readonly state: number | undefined;
  readonly since: number | undefined;
  /** The context has counters and an index by state. A context that no caller named has one task and neither of them. */
  readonly counted: boolean;
}

type Value = string | number;

/** Lists and counts tasks. Each combination of filters has its own index, and totals come from counters. */
export class ListReader {
  readonly #database: DatabaseSync;
  readonly #tasks: TaskReader;
  readonly #scopes: ScopeReader;
  readonly #pages = new Map<string, StatementSync>();
  readonly #counts = new Map<string, StatementSync>();
  readonly #isCounted: StatementSync;
  readonly #sumOfAll: StatementSync;
  readonly #sumOfState: StatementSync;

  constructor(database: DatabaseSync, parts: { readonly scopes: ScopeReader; readonly tasks: TaskReader }) {
    this.#database = database;
    this.#scopes = parts.scopes;
    this.#tasks = parts.tasks;
    this.#isCounted = database.prepare("SELECT 1 FROM counter WHERE scope = ? AND context = ? LIMIT 1");
    const sum =
      "SELECT coalesce(sum(n), 0) AS n FROM counter WHERE scope = ? AND context = ? AND level = ? AND bucket BETWEEN ? AND ?";
    const states = Object.values(STATE_CODE).join();
    this.#sumOfAll = database.prepare(`${sum} AND state IN (${states})`);
    this.#sumOfState = database.prepare(`${sum} AND state = ?`);
  }

  list(query: ListQuery): ListPage {
    return inTransaction(this.#database, () => {
      const scope = this.#scopes.find(query.scope);
      return scope === undefined ? { tasks: [], total: 0 } : this.#page(query, this.#filterOf(query, scope));
    });
  }

  #filterOf({ contextId, state, statusSince }: ListQuery, scope: number): Filter {
    return {
      scope,
      context: contextId,
      state: state && STATE_CODE[state],
      since: statusSince,
      counted: contextId === undefined || this.#isCounted.get(scope, contextId) !== undefined,
    };
  }

  #page(query: ListQuery, filter: Filter): ListPage {
    const { where, values } = conditionsOf(filter);
    const { before, artifacts } = query;
    if (artifacts) values.unshift(largeBytesOf(query));
    if (before !== undefined) values.push(before.at, before.id);
    const sql = `SELECT ${taskColumns({ messages: query.history !== 0, artifacts })} FROM task ${where}
      ${before === undefined ? "" : "AND (status_at, id) < (?, ?)"} ORDER BY status_at DESC, id DESC LIMIT ?`;
    const statement = prepared(this.#pages, sql, () => prepareRows(this.#database, sql));
    const { tasks, hasMore } = this.#firstTasks(statement.iterate(...values, query.limit + 1), query);
    const last = tasks.at(-1);
    return {
      tasks,
      total: this.#total(filter),
      ...(hasMore && last !== undefined && { next: { at: last.head.statusAt, id: last.id } }),
    };
  }

  /** The records that fit on the page. Rows are read one by one, so that at most one row too many is read. */
  #firstTasks(rows: Iterable<unknown>, query: ListQuery): { tasks: TaskRecord[]; hasMore: boolean } {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = query;
    const sizes = maxBytes === Number.POSITIVE_INFINITY ? undefined : { ...query, maxBytes };
    const tasks: TaskRecord[] = [];
    let bytes = 0;
    for (const each of rows) {
      const row = oneRow(each);
      if (row === undefined) continue;
      if (tasks.length === limit) return { tasks, hasMore: true };
      const record = this.#tasks.recordOf(row, query);
      if (record === undefined) continue;
      if (sizes !== undefined) {
        bytes += this.#tasks.bytesOf(row, record, sizes);
        if (tasks.length > 0 && bytes > maxBytes) return { tasks, hasMore: true };
      }
      tasks.push(record);
    }
    return { tasks, hasMore: false };
  }

  #total(filter: Filter): number {
    if (!filter.counted) return this.#count(filter, undefined);
    const { since } = filter;
    if (since === undefined) return this.#sum(filter, 0, [0, 0]);
    // Count the rest of the smallest bucket that contains `since`, then add ever larger buckets.
    const start = Math.floor(since / FINEST) * FINEST;
    let total = this.#count(filter, start + FINEST);
    let end = Number.MAX_SAFE_INTEGER;
    for (const { level, width } of LEVELS) {
      const bucket = Math.floor(since / width);
      total += this.#sum(filter, level, [bucket + 1, end]);
      end = ((bucket + 1) * width) / (LEVELS[level]?.width ?? width) - 1;
    }
    return total;
  }

  #sum({ scope, context = "", state }: Filter, level: number, [from, to]: readonly [number, number]): number {
    const row =
      state === undefined
        ? this.#sumOfAll.get(scope, context, level, from, to)
        : this.#sumOfState.get(scope, context, level, from, to, state);
    return Number(row?.["n"]);
  }

  /** Counts rows, optionally only those before a time. */
  #count(filter: Filter, before: number | undefined): number {
    const { where, values } = conditionsOf(filter);
    const sql = `SELECT count(*) AS n FROM task ${where} ${before === undefined ? "" : "AND status_at < ?"}`;
    const statement = prepared(this.#counts, sql, () => this.#database.prepare(sql));
    if (before !== undefined) values.push(before);
    return Number(statement.get(...values)?.["n"]);
  }
}

/** Names the index explicitly: a wrong choice of the query planner would read the whole table. */
function conditionsOf({ scope, context, state, since, counted }: Filter): { where: string; values: Value[] } {
  const values: Value[] = [scope];
  let index = "task_by_scope";
  let where = "scope = ?";
  if (context !== undefined) {
    index = "task_by_context";
    where += " AND context = ?";
    values.push(context);
  }
  if (state !== undefined) {
    if (context === undefined) index = "task_by_state";
    else if (counted) {
      index = "task_by_context_state";
      where += " AND counted = 1";
    }
    where += " AND state = ?";
    values.push(state);
  }
  if (since !== undefined) {
    where += " AND status_at >= ?";
    values.push(since);
  }
  return { where: `INDEXED BY ${index} WHERE ${where}`, values };
}

function prepared(known: Map<string, StatementSync>, sql: string, prepare: () => StatementSync): StatementSync {
  const statement = known.get(sql) ?? prepare();
  known.set(sql, statement);
  return statement;
}
