import { TASK_STATES } from "../../protocol/state.ts";
import type { Lag, Standby, StoreReport } from "../report.ts";
import { nodeStatistics, noTasks } from "../statistics.ts";
import type { Query } from "./query.ts";
import { originalText } from "./row/text.ts";
import { migrationsOf } from "./schema.ts";

/** See `Store.report`. Creates and migrates nothing. `schema` is a quoted name. */
export async function readReport(query: Query, schema: string): Promise<StoreReport> {
  const name = schema.slice(1, -1);
  const [server] = await query(
    `SELECT current_setting('server_version') AS version, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
       EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migration') AS created`,
    [name],
  );
  const facts = {
    database: `PostgreSQL ${String(server?.["version"])}`,
    newestSchema: migrationsOf(schema).at(-1)?.version ?? 0,
    now: Number(server?.["now"]),
  };
  const standbys = await standbysOf(query);
  if (server?.["created"] !== true) {
    const none = { tasks: noTasks(), parked: 0, nodes: [], due: NONE, overdueWebhooks: NONE, sizes: [] };
    return { ...facts, schema: 0, ...none, ...standbys };
  }
  const tasks = noTasks();
  for (const { state, number } of await query(
    `SELECT state, count(*) AS number FROM ${schema}.task GROUP BY state`,
    [],
  )) {
    const known = TASK_STATES.find((one) => one === state);
    if (known !== undefined) tasks[known] = Number(number);
  }
  const [row] = await query(
    `SELECT (SELECT max(version) FROM ${schema}.migration) AS version,
       (SELECT count(*) FROM ${schema}.task WHERE NOT ended AND node = '' AND NOT active) AS parked`,
    [],
  );
  return {
    ...facts,
    schema: Number(row?.["version"]),
    tasks,
    parked: Number(row?.["parked"]),
    nodes: await nodesOf(query, schema),
    ...(await lags(query, schema, facts.now)),
    sizes: await sizesOf(query, name),
    ...standbys,
  };
}

const NONE: Lag = { count: 0 };

async function nodesOf(query: Query, schema: string): Promise<StoreReport["nodes"]> {
  const byNode = async (text: string): Promise<ReadonlyMap<string, number>> =>
    new Map((await query(text, [])).map(({ node, number }) => [originalText(String(node)), Number(number)]));
  return nodeStatistics(
    await byNode(`SELECT node, count(*) AS number FROM ${schema}.task WHERE NOT ended AND node <> '' GROUP BY node`),
    await byNode(`SELECT id AS node, lease_until AS number FROM ${schema}.node`),
  );
}

async function lags(query: Query, schema: string, now: number): Promise<Pick<StoreReport, "due" | "overdueWebhooks">> {
  const free = `NOT ended AND NOT EXISTS (SELECT FROM ${schema}.node WHERE node.id = task.node AND lease_until > $1)`;
  const [due] = await query(
    `SELECT count(DISTINCT id) AS n, min(at) AS at FROM (
       SELECT id, status_at AS at FROM ${schema}.task WHERE active AND ${free}
       UNION ALL SELECT id, wake_at FROM ${schema}.task WHERE wake_at IS NOT NULL AND wake_at <= $1 AND ${free}
       UNION ALL SELECT task.id, inbox.at FROM ${schema}.inbox JOIN ${schema}.task ON task.id = inbox.task WHERE ${free}
     ) AS waiting`,
    [now],
  );
  const [overdue] = await query(
    `SELECT count(*) AS n, min(next_at) AS at FROM ${schema}.webhook WHERE state = 'active' AND next_at <= $1`,
    [now],
  );
  return { due: lagOf(due), overdueWebhooks: lagOf(overdue) };
}

function lagOf(row: Readonly<Record<string, unknown>> | undefined): Lag {
  const count = Number(row?.["n"] ?? 0);
  return count === 0 ? NONE : { count, since: Number(row?.["at"]) };
}

async function sizesOf(query: Query, name: string): Promise<StoreReport["sizes"]> {
  const rows = await query(
    `SELECT relname AS name, pg_total_relation_size(pg_class.oid) AS bytes, reltuples::bigint AS rows FROM pg_class
     JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relkind = 'r' ORDER BY bytes DESC, relname`,
    [name],
  );
  return rows.map(({ name: table, bytes, rows: estimate }) => ({
    name: String(table),
    bytes: Number(bytes),
    // -1: the table was not analyzed yet.
    ...(Number(estimate) >= 0 && { rows: Number(estimate) }),
  }));
}

/** A role without the right to see them gets none. */
async function standbysOf(query: Query): Promise<{ readonly standbys?: readonly Standby[] }> {
  const rows = await query(
    `SELECT application_name AS name, state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint AS behind
     FROM pg_stat_replication WHERE replay_lsn IS NOT NULL`,
    [],
  ).catch(() => []);
  if (rows.length === 0) return {};
  return {
    standbys: rows.map(({ name, state, behind }) => ({
      name: String(name),
      state: String(state),
      behindBytes: Number(behind),
    })),
  };
}
