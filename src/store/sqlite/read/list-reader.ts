import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ListPage, ListQuery, TaskRecord } from "../../contract.ts";
import { inTransaction } from "../connection.ts";
import { FINEST, LEVELS } from "../counters.ts";
import { STATE_CODE } from "../row/state-code.ts";
import type { ScopeReader } from "../scope-ids.ts";
import { type IndexRange, periodConditions, type TaskIndex } from "./task-index.ts";
import type { TaskRanges } from "./task-ranges.ts";
import type { TaskReader } from "./task-reader.ts";

/** The filters of a list in the form of the file. */
interface Filter {
  readonly scope: number;
  readonly context: string | undefined;
  readonly state: number | undefined;
  readonly since: number | undefined;
  readonly range: IndexRange;
}

export interface ListReaderParts {
  readonly scopes: ScopeReader;
  readonly tasks: TaskReader;
  readonly index: TaskIndex;
  readonly ranges: TaskRanges;
}

/** Lists and counts the tasks of a scope. Every combination of filters is a range of an index, or a merge of one range per state; totals come from counters. */
export class ListReader {
  readonly #database: DatabaseSync;
  readonly #parts: ListReaderParts;
  readonly #sumOfAll: StatementSync;
  readonly #sumOfState: StatementSync;

  constructor(database: DatabaseSync, parts: ListReaderParts) {
    this.#database = database;
    this.#parts = parts;
    const sum =
      "SELECT coalesce(sum(n), 0) AS n FROM counter WHERE scope = ? AND context = ? AND level = ? AND bucket BETWEEN ? AND ?";
    const states = Object.values(STATE_CODE).join();
    this.#sumOfAll = database.prepare(`${sum} AND state IN (${states})`);
    this.#sumOfState = database.prepare(`${sum} AND state = ?`);
  }

  list(query: ListQuery): ListPage {
    return inTransaction(this.#database, () => {
      const scope = this.#parts.scopes.find(query.scope);
      return scope === undefined ? { tasks: [], total: 0 } : this.#page(query, this.#filterOf(query, scope));
    });
  }

  #filterOf({ contextId: context, state: name, statusSince: since }: ListQuery, scope: number): Filter {
    const { ranges } = this.#parts;
    const state = name && STATE_CODE[name];
    const range = context === undefined ? ranges.ofScope(scope, state) : ranges.ofContext(scope, context, state);
    return { scope, context, state, since, range };
  }

  #page(query: ListQuery, filter: Filter): ListPage {
    const period = periodConditions({ since: filter.since, before: query.before });
    const found = this.#parts.index.newest(filter.range, period, query.limit + 1);
    const keys = found.slice(0, query.limit).map(({ pk }) => pk);
    const tasks = this.#firstTasks(keys, query);
    const last = tasks.at(-1);
    return {
      tasks,
      total: this.#total(filter),
      ...(last !== undefined && tasks.length < found.length && { next: { at: last.head.statusAt, id: last.id } }),
    };
  }

  /** The records that fit on the page. Rows are read one by one, so that at most one row too many is read. */
  #firstTasks(keys: readonly number[], query: ListQuery): TaskRecord[] {
    const { maxBytes = Number.POSITIVE_INFINITY } = query;
    const sizes = maxBytes === Number.POSITIVE_INFINITY ? undefined : { ...query, maxBytes };
    const tasks: TaskRecord[] = [];
    let bytes = 0;
    for (const { row, record } of this.#parts.tasks.byKeys(keys, query)) {
      if (sizes !== undefined) {
        bytes += this.#parts.tasks.bytesOf(row, record, sizes);
        if (tasks.length > 0 && bytes > maxBytes) break;
      }
      tasks.push(record);
    }
    return tasks;
  }

  #total(filter: Filter): number {
    const { scope, context, since, range } = filter;
    const { index, ranges } = this.#parts;
    if (context !== undefined && !ranges.isCounted(scope, context)) return index.count(range, periodConditions(filter));
    if (since === undefined) return this.#sum(filter, 0, [0, 0]);
    // Count the rest of the smallest bucket that contains `since`, then add ever larger buckets.
    const start = Math.floor(since / FINEST) * FINEST;
    let total = index.count(range, periodConditions({ since, until: start + FINEST }));
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
}
