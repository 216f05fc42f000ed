import { TASK_STATES } from "../../protocol/state.ts";
import type { StoreStatistics } from "../contract.ts";
import { nodeStatistics, noTasks } from "../statistics.ts";
import type { Connections } from "./connections.ts";
import { originalText } from "./row/text.ts";

/** See `Store.statistics`. */
export async function readStatistics(connections: Connections, schema: string): Promise<StoreStatistics> {
  const [states, [parked], held, leases, [size]] = await Promise.all([
    connections.query(`SELECT state, count(*) AS number FROM ${schema}.task GROUP BY state`, []),
    connections.query(`SELECT count(*) AS number FROM ${schema}.task WHERE NOT ended AND node = '' AND NOT active`, []),
    connections.query(
      `SELECT node, count(*) AS number FROM ${schema}.task WHERE NOT ended AND node <> '' GROUP BY node`,
      [],
    ),
    connections.query(`SELECT id AS node, lease_until AS number FROM ${schema}.node`, []),
    connections.query(
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS number FROM pg_class
       WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'`,
      [schema],
    ),
  ]);
  const tasks = noTasks();
  const numbers = new Map(states.map(({ state, number }) => [state, Number(number)]));
  for (const state of TASK_STATES) tasks[state] = numbers.get(state) ?? 0;
  const byNode = (rows: typeof held): ReadonlyMap<string, number> =>
    new Map(rows.map(({ node, number }) => [originalText(String(node)), Number(number)]));
  return {
    tasks,
    parked: Number(parked?.["number"]),
    nodes: nodeStatistics(byNode(held), byNode(leases)),
    bytes: Number(size?.["number"]),
  };
}
