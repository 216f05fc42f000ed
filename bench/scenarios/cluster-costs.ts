import { setTimeout as sleep } from "node:timers/promises";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { type PostgresServer, startPostgres, whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { treeMicroseconds } from "../cluster/processor-time.ts";
import { countRoundTrips } from "../cluster/round-trips.ts";
import { palaverDurable } from "../contenders.ts";
import { plain } from "../format.ts";
import { type OpenStream, openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import { type Bench, NotMeasurable, type Outcome, type Row, type Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";

/** What nodes cost the database, and how that compares with SQLite. */
export const clusterCosts: Scenario = {
  name: "cluster-costs",
  title: "Nodes on PostgreSQL: processor time, commits, round trips",
  limitSeconds: [240, 120],
  run,
};

const PER_SECOND = 20;
/** Streams per node of the paced measurements. */
const STREAMS = 50;

/** Processor time in microseconds, and what was written, since the start. */
interface Sample {
  readonly database: number;
  readonly nodes: number;
  readonly events: number;
  readonly rows: number;
  readonly commits: number;
  readonly wal: number;
  /** Round trips on the connection of the first node that commits. */
  readonly trips: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const reason = await whyNoPostgres();
  if (reason !== undefined) throw new NotMeasurable(reason);
  const server = await startPostgres();
  const admin = (await loadPostgresDriver()).createClient({ url: server.url, name: "bench", queryTimeout: 0 });
  admin.on("error", () => {});
  await admin.connect();
  const trips = await countRoundTrips(server.port);
  try {
    const window = bench.quick ? 5 : 15;
    const start = (label: string, port: number): Promise<ServerProcess> => {
      const url = new URL(server.url);
      url.port = String(port);
      return bench.start({ label, script: "palaver", config: { postgres: url.href } });
    };
    const sample = async (nodes: readonly ServerProcess[]): Promise<Sample> => ({
      ...(await sampleOf(admin, server, nodes)),
      trips: trips.count(),
    });
    const first = await start("node 1", trips.port);
    bench.progress(`SQLite: ${STREAMS} streams for ${window} s`);
    const sqlite = await bench.start(palaverDurable(bench));
    const sqliteCost = await sqlitePerEvent(bench, sqlite, window);
    await sqlite.stop();

    bench.progress(`one node: ${STREAMS} streams for ${window} s`);
    const one = await paced(bench, [first], { window, sample });
    bench.progress(`three nodes: ${STREAMS} streams each for ${window} s`);
    const nodes = [first, ...(await Promise.all([2, 3].map((n) => start(`node ${n}`, server.port))))];
    const three = await paced(bench, nodes, { window, sample });
    bench.progress("one node, as many events as it writes");
    const loaded = await paced(bench, [first], { window, sample, streams: 100, perSecond: 200 });
    const costs = costsOf(one, loaded);
    return {
      rows: [
        ratioRow((one.nodes + one.database) / one.events / sqliteCost),
        row("round trips per commit", one.trips / one.commits, { most: 1.01 }),
        row("events per commit under load", loaded.events / loaded.commits, { least: 32 }),
        row("PostgreSQL's time per commit and row, 3 nodes ÷ 1 node", three.database / expected(three, costs), {
          most: 1.1,
        }),
        { work: "one node", figure: `${costs.commit.toFixed(0)} µs per commit and ${costs.row.toFixed(0)} µs per row` },
        ...costRows("one node", one),
        ...costRows("three nodes", three),
        ...costRows("under load", loaded),
        { work: "processor time of SQLite's node per event", figure: `${sqliteCost.toFixed(0)} µs` },
      ],
      notes: [
        `${STREAMS} streams × ${PER_SECOND} events/s per node. Processor time of all processes of PostgreSQL, hints and polls included.`,
      ],
      data: { one, three, loaded, sqliteCost },
    };
  } finally {
    trips.close();
    await admin.end();
    await server.stop();
  }
}

async function sampleOf(
  admin: PostgresClient,
  server: PostgresServer,
  nodes: readonly ServerProcess[],
): Promise<Omit<Sample, "trips">> {
  const { rows } = await admin.query(`SELECT (SELECT count(*) FROM palaver.log) AS rows,
    (SELECT coalesce(sum(last - first + 1), 0)::bigint FROM palaver.log) AS events,
    (SELECT coalesce(sum(n), 0)::bigint FROM palaver.writer) AS commits,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal`);
  const figure = (name: string): number => Number(rows[0]?.[name]);
  return {
    database: treeMicroseconds(server.pid),
    nodes: nodes.reduce((sum, { pid }) => sum + treeMicroseconds(pid), 0),
    ...{ events: figure("events"), rows: figure("rows"), commits: figure("commits"), wal: figure("wal") },
  };
}

interface Load {
  readonly window: number;
  readonly sample: (nodes: readonly ServerProcess[]) => Promise<Sample>;
  readonly streams?: number;
  readonly perSecond?: number;
}

/** What was used and written in the window, with the same streams on each node. */
async function paced(
  bench: Bench,
  nodes: readonly ServerProcess[],
  { window, sample, streams = STREAMS, perSecond = PER_SECOND }: Load,
): Promise<Sample> {
  const open = nodes.flatMap((node) => openStreams(bench, node, { window, streams, perSecond }));
  try {
    await Promise.all(open.map(({ first }) => first));
    await sleep(3000);
    const before = await sample(nodes);
    await sleep(window * 1000);
    const after = await sample(nodes);
    const since = (name: keyof Sample): number => after[name] - before[name];
    return {
      ...{ database: since("database"), nodes: since("nodes"), events: Math.max(1, since("events")) },
      ...{ rows: Math.max(1, since("rows")), commits: Math.max(1, since("commits")), wal: since("wal") },
      trips: since("trips"),
    };
  } finally {
    for (const stream of open) stream.close();
    await sleep(1000);
  }
}

interface Streams {
  readonly window: number;
  readonly streams: number;
  readonly perSecond: number;
  readonly onFrame?: () => void;
}

function openStreams(
  { signal }: Bench,
  { port }: ServerProcess,
  { window, streams, perSecond, onFrame = () => {} }: Streams,
): OpenStream[] {
  const count = (window + 8) * perSecond;
  return Array.from({ length: streams }, () =>
    openStream({ port, body: streamBody({ kind: "paced", count, perSecond }), signal, onFrame }),
  );
}

async function sqlitePerEvent(bench: Bench, server: ServerProcess, window: number): Promise<number> {
  let events = 0;
  const onFrame = (): void => {
    events += 1;
  };
  const open = openStreams(bench, server, { window, streams: STREAMS, perSecond: PER_SECOND, onFrame });
  try {
    await Promise.all(open.map(({ first }) => first));
    await sleep(3000);
    const [used, seen] = [treeMicroseconds(server.pid), events];
    await sleep(window * 1000);
    return (treeMicroseconds(server.pid) - used) / Math.max(1, events - seen);
  } finally {
    for (const stream of open) stream.close();
  }
}

/** Microseconds of PostgreSQL. */
interface Costs {
  readonly commit: number;
  readonly row: number;
}

/**
 * What a commit costs, and what each of its rows costs, from two measurements of one node: small commits and large ones. Several nodes make smaller
 * commits of the same rows, so time per commit, or per row alone, would compare different work.
 */
function costsOf(small: Sample, large: Sample): Costs {
  const row =
    (large.database * small.commits - small.database * large.commits) /
    (large.rows * small.commits - small.rows * large.commits);
  return { commit: (small.database - row * small.rows) / small.commits, row };
}

/** The time that these commits and rows take at these costs. */
function expected({ commits, rows }: Sample, costs: Costs): number {
  return commits * costs.commit + rows * costs.row;
}

function ratioRow(ratio: number): Row {
  return row("node and database per event ÷ SQLite's node", ratio, { most: 2.5 });
}

function costRows(name: string, { database, nodes, events, rows, commits, wal }: Sample): Row[] {
  const figures = [
    `node ${(nodes / events).toFixed(0)} µs and PostgreSQL ${(database / events).toFixed(0)} µs per event`,
    `${(database / commits).toFixed(0)} µs per commit, ${(events / commits).toFixed(1)} events and ${(rows / commits).toFixed(1)} rows per commit`,
    `${(wal / events).toFixed(0)} bytes of write-ahead log per event`,
  ];
  return figures.map((figure) => ({ work: name, figure }));
}

function row(work: string, figure: number, { most, least }: { readonly most?: number; readonly least?: number }): Row {
  const limit = most === undefined ? `≥ ${least}` : `≤ ${most}`;
  return { work, limit, figure: plain(figure), ok: most === undefined ? figure >= (least ?? 0) : figure <= most };
}
