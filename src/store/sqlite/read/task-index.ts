import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ListCursor } from "../../contract.ts";
import { STATE_CODE } from "../row/state-code.ts";

export type Value = string | number;

/** A condition in SQL with its values, one for each `?`. */
export type Condition = readonly [sql: string, ...values: Value[]];

/** The tasks of one range of an index, which has them in the order of lists. */
export interface IndexRange {
  /** Absent: the range is the row with this key. */
  readonly index: string | undefined;
  /** The column that distinguishes the ranges of a merge, and its value. */
  readonly key: readonly [column: string, value: Value];
  readonly conditions: readonly Condition[];
  /** The index has the state before the time of the status: a query without a state merges one range per state. */
  readonly byState: boolean;
  /** Only tasks with this state. */
  readonly state: number | undefined;
}

/** Only tasks whose status is from this period and that come after this cursor. */
export interface Period {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly before?: ListCursor | undefined;
}

/** A place in the order of lists, with the key of its task. */
export interface FoundTask extends ListCursor {
  readonly pk: number;
}

/** A range, and the time of its newest status. */
export interface NewestRange {
  readonly range: IndexRange;
  readonly at: number;
}

const ALL_STATES = Object.values(STATE_CODE);
const NEVER = Number.MIN_SAFE_INTEGER;
/** A condition that is always true. */
const NO_KEY = ["1", 1] as const;

/** Searches ranges of indexes. Names the index explicitly: a wrong choice of the query planner would read the whole table. */
export class TaskIndex {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The newest tasks of the range for which the conditions are true, at most `limit`. Reads only the index, if it has the columns of the conditions. */
  newest(range: IndexRange, conditions: readonly Condition[], limit: number): FoundTask[] {
    const { where, values } = whereOf(range, conditions);
    const select = `SELECT pk, status_at, id FROM task ${indexedBy(range)} WHERE ${where}`;
    // SQLite merges the sorted parts of such a UNION ALL as they are read.
    const sql = statesOf(range)
      .map((state) => `${select} ${state}`)
      .join(" UNION ALL ");
    const statement = this.#prepare(`${sql} ORDER BY status_at DESC, id DESC LIMIT ?${values.length + 1}`);
    statement.setReturnArrays(true);
    const rows: unknown[] = statement.all(...values, limit);
    // Safe cast: the three columns that were selected.
    return (rows as (readonly [number, number, string])[]).map(([pk, at, id]) => ({ pk, at, id }));
  }

  /**
   * The ranges that have tasks in the period, each with the time of its newest status, newest first. All ranges must differ in the values of their
   * keys only. One query for all: thousands of queries would take most of the time.
   */
  newestRanges(ranges: readonly IndexRange[], { since, until, before }: Period): NewestRange[] {
    const [first] = ranges;
    if (first === undefined) return [];
    const { where, values } = whereOf({ ...first, key: NO_KEY }, [
      [`${first.key[0]} = found.value`],
      ["status_at >= ?", since ?? Number.MIN_SAFE_INTEGER],
      ["status_at <= ?", Math.min(before?.at ?? Number.MAX_SAFE_INTEGER, (until ?? Number.MAX_SAFE_INTEGER) - 1)],
    ]);
    const times = statesOf(first).map(
      (state) => `coalesce((SELECT max(status_at) FROM task ${indexedBy(first)} WHERE ${where} ${state}), ${NEVER})`,
    );
    const time = times.length === 1 ? times.join() : `max(${times.join()})`;
    const sql = `SELECT found.key AS n, ${time} AS at FROM json_each(?${values.length + 1}) AS found`;
    const rows = this.#prepare(sql).all(...values, JSON.stringify(ranges.map(({ key }) => key[1])));
    return rows
      .flatMap((row) => {
        const range = ranges[Number(row["n"])];
        return range === undefined || row["at"] === NEVER ? [] : [{ range, at: Number(row["at"]) }];
      })
      .sort((a, b) => b.at - a.at);
  }

  count(range: IndexRange, conditions: readonly Condition[]): number {
    const { where, values } = whereOf(range, conditions);
    const states = range.byState && range.state === undefined ? `AND state IN (${ALL_STATES.join()})` : "";
    const sql = `SELECT count(*) AS n FROM task ${indexedBy(range)} WHERE ${where} ${states}`;
    return Number(this.#prepare(sql).get(...values)?.["n"]);
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Compares by the order of lists: newest status first; equal times by id, descending. */
export function newestFirst(a: ListCursor, b: ListCursor): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1);
}

export function periodConditions(period: Period): Condition[] {
  const { since, until, before } = period;
  const conditions: Condition[] = [];
  if (since !== undefined) conditions.push(["status_at >= ?", since]);
  // Only the earlier of both ends: SQLite begins to read at one of them, not necessarily at the earlier.
  if (before !== undefined && before.at < (until ?? Number.POSITIVE_INFINITY))
    conditions.push(["(status_at, id) < (?, ?)", before.at, before.id]);
  else if (until !== undefined) conditions.push(["status_at < ?", until]);
  return conditions;
}

function indexedBy({ index }: IndexRange): string {
  return index === undefined ? "NOT INDEXED" : `INDEXED BY ${index}`;
}

/** The conditions on the state, one for each sorted part of the range. */
function statesOf({ byState, state }: IndexRange): string[] {
  return byState && state === undefined ? ALL_STATES.map((code) => `AND state = ${code}`) : [""];
}

/** Numbers the parameters, because the parts of a merge share them. */
function whereOf(
  { key: [column, value], conditions: own, state }: IndexRange,
  further: readonly Condition[],
): { readonly where: string; readonly values: readonly Value[] } {
  const conditions: readonly Condition[] = [
    [`${column} = ?`, value],
    ...own,
    ...(state === undefined ? [] : [["state = ?", state] as const]),
    ...further,
  ];
  let parameter = 0;
  const where = conditions.map(([sql]) => sql.replaceAll("?", () => `?${++parameter}`)).join(" AND ");
  return { where, values: conditions.flatMap(([, ...values]) => values) };
}
