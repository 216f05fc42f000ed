import { TASK_STATES } from "../../../protocol/state.ts";
import type { ListCursor, ListPage, ListQuery, OperatorPage, OperatorQuery } from "../../contract.ts";
import type { Connections } from "../connections.ts";
import { scopeKey } from "../row/scope-key.ts";
import { recordOf, type TaskRow } from "../row/task-record.ts";
import { originalText, storableText } from "../row/text.ts";
import { Filter } from "./filter.ts";
import { historyJoins, recordQuery } from "./task-query.ts";

const ORDER = "status_at DESC, id DESC";

type PageQuery = Pick<ListQuery, "artifacts" | "history" | "largeBytes" | "maxBytes" | "limit">;

/** The sorted ranges of an index that a page is merged from: one per state, and per agent if the filter names none. */
interface Ranges {
  readonly states: readonly string[];
  readonly ofAllAgents: boolean;
}

/** Reads pages of tasks. Pages continue after a key, so that they neither skip nor repeat tasks that stay where they are. */
export class ListReader {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, schema: string) {
    this.#connections = connections;
    this.#schema = schema;
  }

  /** See `Store.list`. */
  async list(query: ListQuery): Promise<ListPage> {
    const { scope, contextId, state, statusSince, before, limit } = query;
    const filter = new Filter();
    filter.equals("scope", scopeKey(scope), "::uuid");
    if (contextId !== undefined) filter.equals("context", storableText(contextId));
    if (statusSince !== undefined) filter.add((at) => `status_at >= ${at}::bigint`, statusSince);
    const counted = this.#connections.query(
      `SELECT count(*) AS number FROM ${this.#schema}.task WHERE ${filter.sql}
       ${state === undefined ? "" : `AND state = ${"$"}${filter.values.length + 1}`}`,
      state === undefined ? [...filter.values] : [...filter.values, state],
    );
    addCursor(filter, before);
    const ranges = contextId === undefined ? { states: [state ?? TASK_STATES].flat(), ofAllAgents: false } : undefined;
    if (ranges === undefined && state !== undefined) filter.equals("state", state);
    const [rows, [total]] = await Promise.all([this.#page(filter, query, ranges), counted]);
    const page = pageOf(rows, limit);
    return { ...page, total: Math.max(Number(total?.["number"]), page.tasks.length) };
  }

  /** See `Store.listAll`. */
  async listAll(query: OperatorQuery): Promise<OperatorPage> {
    const { agent, tenant, owner, contextId, state, parent, root, statusSince, statusBefore, before, limit } = query;
    const filter = new Filter();
    for (const [column, value] of Object.entries({ agent, tenant, owner, context: contextId, parent, root }))
      if (value !== undefined) filter.equals(column, storableText(value));
    if (statusSince !== undefined) filter.add((at) => `status_at >= ${at}::bigint`, statusSince);
    if (statusBefore !== undefined) filter.add((at) => `status_at < ${at}::bigint`, statusBefore);
    addCursor(filter, before);
    // A context, a parent and a root have an index of their own.
    const isNarrow = contextId !== undefined || parent !== undefined || root !== undefined;
    const ranges = isNarrow ? undefined : { states: [state ?? TASK_STATES].flat(), ofAllAgents: agent === undefined };
    if (isNarrow && state !== undefined) filter.equals("state", state);
    const options = { artifacts: false, history: 0, limit };
    return pageOf(await this.#page(filter, options, ranges), limit);
  }

  /** The tasks of a page, and one more if there is one, without contents. */
  async #page(filter: Filter, query: PageQuery, ranges: Ranges | undefined): Promise<readonly TaskRow[]> {
    const { artifacts, history, largeBytes, maxBytes, limit } = query;
    const schema = this.#schema;
    const rows = filter.parameter(limit + 1);
    const parameters = {
      history: filter.parameter(history ?? null),
      upTo: "NULL",
      largeBytes: filter.parameter(largeBytes ?? null),
      artifacts: filter.parameter(artifacts),
    };
    const selected = `SELECT * FROM ${schema}.task WHERE ${filter.sql || "true"}`;
    const agents = ranges?.ofAllAgents === true ? ` CROSS JOIN (${agentsQuery(schema)}) AS known` : "";
    // One sorted range per state (and agent) is read side by side, each at most as long as the page.
    const source =
      ranges === undefined
        ? `(${selected} ORDER BY ${ORDER} LIMIT ${rows})`
        : `(SELECT found.* FROM unnest(${filter.parameter(ranges.states)}::text[]) AS wanted (state)${agents} CROSS JOIN LATERAL (
            ${selected} AND task.state = wanted.state ${ranges.ofAllAgents ? "AND task.agent = known.agent" : ""} ORDER BY ${ORDER} LIMIT ${rows}
          ) AS found ORDER BY ${ORDER} LIMIT ${rows})`;
    const contents = `octet_length(status) + coalesce(octet_length(metadata), 0) + size.bytes + CASE WHEN ${parameters.artifacts}::boolean THEN
      coalesce((SELECT octet_length(body) FROM ${schema}.artifacts WHERE artifacts.task = task.id),
        (SELECT sum(bytes) FROM ${schema}.log WHERE log.task = task.id), 0) ELSE 0 END`;
    const sized =
      maxBytes === undefined
        ? `(SELECT *, row_number() OVER (ORDER BY ${ORDER}) < ${rows} AS included FROM ${source} AS task)`
        : `(SELECT task.*, place < ${rows} AND (place = 1 OR through <= ${filter.parameter(maxBytes)}::numeric) AS included FROM (
            SELECT task.*, row_number() OVER (ORDER BY ${ORDER}) AS place, sum(${contents}) OVER (ORDER BY ${ORDER}) AS through
            FROM ${source} AS task ${historyJoins(schema, parameters.history, "NULL")}) AS task)`;
    const text = `${recordQuery(schema, `${sized} AS task`, parameters)} ORDER BY task.status_at DESC, task.id DESC`;
    // Safe cast: the columns of the query.
    return (await this.#connections.query(text, [...filter.values])) as unknown as readonly TaskRow[];
  }
}

/** All agents that have tasks, found by skipping from agent to agent in the index. */
function agentsQuery(schema: string): string {
  return `WITH RECURSIVE known (agent) AS (
      (SELECT agent FROM ${schema}.task ORDER BY agent LIMIT 1)
      UNION ALL
      SELECT (SELECT task.agent FROM ${schema}.task WHERE task.agent > known.agent ORDER BY task.agent LIMIT 1) FROM known WHERE known.agent IS NOT NULL
    ) SELECT agent FROM known WHERE agent IS NOT NULL`;
}

function addCursor(filter: Filter, before: ListCursor | undefined): void {
  if (before === undefined) return;
  const id = filter.parameter(storableText(before.id));
  filter.add((at) => `(status_at, id) < (${at}::bigint, ${id}::text COLLATE "C")`, before.at);
}

/** The included rows, and the cursor of the next page if there are more. */
function pageOf(rows: readonly TaskRow[], limit: number): OperatorPage {
  const end = rows.findIndex((row) => !row.included);
  const included = (end === -1 ? rows : rows.slice(0, end)).slice(0, limit);
  const last = included.at(-1);
  const isLast = included.length === rows.length || last === undefined;
  return {
    tasks: included.map(recordOf),
    ...(!isLast && { next: { at: last.status_at, id: originalText(last.id) } }),
  };
}
