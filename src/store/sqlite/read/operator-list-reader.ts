import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { OperatorPage, OperatorQuery } from "../../contract.ts";
import { inTransaction } from "../connection.ts";
import { STATE_CODE } from "../row/state-code.ts";
import type { ListReaderParts } from "./list-reader.ts";
import { type Condition, type FoundTask, type IndexRange, newestFirst, periodConditions } from "./task-index.ts";
import { rangeOfAgent, rangeOfParent, rangeOfRoot } from "./task-ranges.ts";

/**
 * Lists the tasks of all scopes. A query is a merge of index ranges: one per agent and a few scopes, or one per scope of the owner, the tenant or the context. Its
 * cost is a few seeks per range plus the page itself, whatever number of tasks there is.
 */
export class OperatorListReader {
  readonly #database: DatabaseSync;
  readonly #parts: ListReaderParts;
  readonly #agents: StatementSync;
  readonly #scopesOfContext: StatementSync;

  constructor(database: DatabaseSync, parts: ListReaderParts) {
    this.#database = database;
    this.#parts = parts;
    this.#agents = database.prepare("SELECT id FROM agent WHERE ?1 IS NULL OR name = ?1");
    // Skips from scope to scope in the index, whatever number of tasks each has.
    const first = "SELECT min(scope) FROM task INDEXED BY task_by_context WHERE context = ?1 AND counted < 2";
    this.#scopesOfContext = database.prepare(
      `WITH RECURSIVE found (id) AS (
         ${first} UNION ALL SELECT (${first} AND scope > found.id) FROM found WHERE found.id IS NOT NULL
       ) SELECT id FROM found WHERE id IS NOT NULL`,
    );
  }

  list(query: OperatorQuery): OperatorPage {
    const { limit } = query;
    return inTransaction(this.#database, () => {
      const found = this.#newest(this.#rangesOf(query), query, limit + 1);
      const keys = found.slice(0, limit).map(({ pk }) => pk);
      const tasks = Array.from(
        this.#parts.tasks.byKeys(keys, { artifacts: false, history: 0 }),
        ({ record }) => record,
      );
      const last = tasks.at(-1);
      return {
        tasks,
        ...(last !== undefined && found.length > limit && { next: { at: last.head.statusAt, id: last.id } }),
      };
    });
  }

  #rangesOf(query: OperatorQuery): IndexRange[] {
    const { agent, tenant, owner, contextId, parent, root } = query;
    const state = query.state && STATE_CODE[query.state];
    if (parent !== undefined) return [rangeOfParent(parent, state)];
    if (root !== undefined) return [rangeOfRoot(root, state)];
    const { scopes, ranges } = this.#parts;
    if (contextId !== undefined) {
      const found = owner === undefined ? this.#scopesIn(contextId, query) : scopes.select(query);
      return found.map((scope) => ranges.ofContext(scope, contextId, state));
    }
    if (owner !== undefined || tenant !== undefined)
      return scopes.select(query).map((scope) => ranges.ofScope(scope, state));
    return [
      ...this.#agents.all(agent ?? null).map((row) => rangeOfAgent(Number(row["id"]), state)),
      ...scopes.merged(agent).map((scope) => ranges.ofScope(scope, state)),
    ];
  }

  /** The scopes that have tasks in this context and match the query. */
  #scopesIn(context: string, { agent, tenant }: OperatorQuery): number[] {
    const ids = this.#scopesOfContext.all(context).map((row) => Number(row["id"]));
    const first = this.#parts.ranges.scopeOfFirst(context);
    if (first !== undefined && !ids.includes(first)) ids.push(first);
    if (agent === undefined && tenant === undefined) return ids;
    return ids.filter((id) => {
      const scope = this.#parts.scopes.mustFind(id);
      return (agent === undefined || scope.agent === agent) && (tenant === undefined || scope.tenant === tenant);
    });
  }

  /** The newest tasks of all ranges together. Reads a range only if its newest task may be on the page. */
  #newest(ranges: readonly IndexRange[], query: OperatorQuery, limit: number): FoundTask[] {
    const { index } = this.#parts;
    const period = { since: query.statusSince, until: query.statusBefore, before: query.before };
    const conditions = [...periodConditions(period), ...relationConditions(query)];
    const [only] = ranges;
    if (only !== undefined && ranges.length === 1) return index.newest(only, conditions, limit);
    const byIndex = Map.groupBy(ranges, (range) => range.index);
    const sorted = Array.from(byIndex.values(), (group) => index.newestRanges(group, period))
      .flat()
      .sort((a, b) => b.at - a.at);
    let found: FoundTask[] = [];
    for (const { range, at } of sorted) {
      if ((found[limit - 1]?.at ?? Number.NEGATIVE_INFINITY) > at) break;
      found = [...found, ...index.newest(range, conditions, limit)].sort(newestFirst).slice(0, limit);
    }
    return found;
  }
}

/** The filters that the indexes by parent and by root do not have. */
function relationConditions(query: OperatorQuery): Condition[] {
  const { parent, root, contextId, agent, tenant, owner } = query;
  if (parent === undefined && root === undefined) return [];
  const conditions: Condition[] = [];
  if (parent !== undefined && root !== undefined) conditions.push(["root = ?", root]);
  if (contextId !== undefined) conditions.push(["context = ?", contextId]);
  const inScope = { agent, tenant, owner };
  for (const [column, value] of Object.entries(inScope))
    if (value !== undefined)
      conditions.push([`scope IN (SELECT scope.id FROM scope WHERE scope.${column} = ?)`, value]);
  return conditions;
}
