import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Lag, StoreReport } from "../../report.ts";
import { nodeStatistics, noTasks } from "../../statistics.ts";
import { NEWEST_SCHEMA, userVersion } from "../connection.ts";
import { stateOf } from "../row/state-code.ts";

export interface ReportParts {
  readonly file: string;
  /** The store's present time. */
  readonly now: number;
  /** When the lease of each node ends. */
  readonly leases: ReadonlyMap<string, number>;
  /** Known already. Absent: the tasks are counted, which reads a whole index. */
  readonly totals?: Pick<StoreReport, "tasks" | "parked">;
}

/** See `Store.report`. All statements use indexes: none reads a log or an artifact. */
export function readReport(database: DatabaseSync, parts: ReportParts): StoreReport {
  const { file, now, leases } = parts;
  const facts = {
    database: `SQLite ${String(database.prepare("SELECT sqlite_version() AS version").get()?.["version"])}`,
    schema: userVersion(database),
    newestSchema: NEWEST_SCHEMA,
    now,
    sizes: sizesOf(database, file),
  };
  // Older schemas have other indexes; they are migrated before anything else is done with them.
  if (facts.schema !== NEWEST_SCHEMA)
    return { ...facts, tasks: noTasks(), parked: 0, nodes: [], due: NONE, overdueWebhooks: NONE };
  const live = "task INDEXED BY task_live WHERE ended = 0 AND (node IS NOT NULL OR active = 1)";
  const held = new Map(
    database
      .prepare(`SELECT node, count(*) AS n FROM ${live} AND node IS NOT NULL GROUP BY node`)
      .all()
      .map((row) => [String(row["node"]), Number(row["n"])] as const),
  );
  const living = JSON.stringify([...leases].flatMap(([node, until]) => (until > now ? [node] : [])));
  const free = "(node IS NULL OR node NOT IN (SELECT value FROM json_each(?2)))";
  const due = lagOf(
    database
      .prepare(
        `SELECT count(*) AS n, min(at) AS at FROM (SELECT pk, min(at) AS at FROM (
           SELECT pk, status_at AS at FROM ${live} AND active = 1 AND ${free}
           UNION ALL SELECT pk, wake_at FROM task INDEXED BY task_asleep WHERE ended = 0 AND wake_at <= ?1 AND ${free}
           UNION ALL SELECT pk, inbox.at FROM inbox JOIN task ON pk = inbox.task WHERE ended = 0 AND ${free}
         ) GROUP BY pk)`,
      )
      .get(now, living),
  );
  const overdueWebhooks = lagOf(
    database
      .prepare(
        "SELECT count(*) AS n, min(next_at) AS at FROM webhook INDEXED BY webhook_active WHERE state = 0 AND next_at <= ?",
      )
      .get(now),
  );
  const totals = parts.totals ?? totalsOf(database);
  return { ...facts, ...totals, nodes: nodeStatistics(held, leases), due, overdueWebhooks };
}

function totalsOf(database: DatabaseSync): Pick<StoreReport, "tasks" | "parked"> {
  const tasks = noTasks();
  for (const row of database.prepare("SELECT state, count(*) AS n FROM task GROUP BY state").iterate())
    tasks[stateOf(Number(row["state"]))] = Number(row["n"]);
  const parked = database.prepare("SELECT count(*) AS n FROM task WHERE ended = 0 AND node IS NULL AND active = 0");
  return { tasks, parked: Number(parked.get()?.["n"]) };
}

const NONE: Lag = { count: 0 };

function lagOf(row: Readonly<Record<string, unknown>> | undefined): Lag {
  const count = Number(row?.["n"] ?? 0);
  return count === 0 ? NONE : { count, since: Number(row?.["at"]) };
}

function sizesOf(database: DatabaseSync, file: string): StoreReport["sizes"] {
  const bytes = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  return [
    { name: "file", bytes: bytes(file) },
    { name: "of it, free for new data", bytes: pragma("freelist_count") * pragma("page_size") },
    { name: "write-ahead log", bytes: bytes(`${file}-wal`) },
  ];
}
