import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { createOf, headOf, taskId } from "../../src/testing/store-operations.ts";
import { type PostgresServer, startPostgres, whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { AGENT_ID } from "../agent-id.ts";
import { milliseconds, plain } from "../format.ts";
import { type OpenStream, openStream } from "../load/open-stream.ts";
import { streamBody, subscribeBody } from "../load/requests.ts";
import { type Bench, NotMeasurable, type Outcome, type Row, type Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { CLOCK_MARK, clockMicroseconds } from "../servers/workload.ts";
import { percentile } from "../statistics.ts";

/** How long an event takes from one node to a reader on another, and what nodes cost the database. */
export const clusterEvents: Scenario = {
  name: "cluster-events",
  title: "Three nodes on one PostgreSQL: events between nodes, idle nodes, commits",
  limitSeconds: [240, 120],
  run,
};

const STREAMS = 50;
const PER_SECOND = 20;
const PARKED = 10_000;

interface Nodes {
  readonly writer: ServerProcess;
  readonly reader: ServerProcess;
  /** It gets no hints. */
  readonly polling: ServerProcess;
}

async function run(bench: Bench): Promise<Outcome> {
  const reason = await whyNoPostgres();
  if (reason !== undefined) throw new NotMeasurable(reason);
  const server = await startPostgres();
  const admin = (await loadPostgresDriver()).createClient({ url: server.url, name: "bench", queryTimeout: 0 });
  admin.on("error", () => {});
  await admin.connect();
  try {
    await park(server);
    const start = (label: string, hints: boolean): Promise<ServerProcess> =>
      bench.start({ label, script: "palaver", config: { postgres: `${server.url}?application_name=${label}`, hints } });
    const writer = await start("writer", true);
    const [reader, polling] = await Promise.all([start("reader", true), start("polling", false)]);
    const window = bench.quick ? 5 : 15;
    bench.progress(`${PARKED} parked tasks, idle for ${window} s`);
    const idle = await idleCosts(admin, window);
    bench.progress(`${STREAMS} streams on one node, read on two others, for ${window} s`);
    const paced = await latencies(bench, { writer, reader, polling }, window);
    const costs = await loadCosts(bench, { admin, server, writer }, window);
    return {
      rows: [...idleRows(idle), ...latencyRows(paced), ...costRows(costs)],
      notes: [],
      data: { idle, paced, costs },
    };
  } finally {
    await admin.end();
    await server.stop();
  }
}

/** Tasks that wait for an answer, and that no node holds. */
async function park(server: PostgresServer): Promise<void> {
  const store = await openPostgresStore({ url: server.url });
  const head = headOf("input-required", { active: false });
  for (let first = 0; first < PARKED; first += 500) {
    const some = Array.from({ length: 500 }, (_, index) =>
      createOf(
        taskId(first + index),
        { scope: { agent: AGENT_ID, tenant: "", owner: "nobody" } },
        { head, release: true },
      ),
    );
    await store.commit(some);
  }
  await store.close();
}

interface IdleCosts {
  /** Transactions of all nodes per second and node, without those of this program. */
  readonly perNode: number;
}

async function idleCosts(admin: PostgresClient, window: number): Promise<IdleCosts> {
  const transactions = async (): Promise<number> => {
    const { rows } = await admin.query(
      "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(rows[0]?.["n"]);
  };
  await sleep(3000);
  const before = await transactions();
  await sleep(window * 1000);
  return { perNode: ((await transactions()) - before - 1) / window / 3 };
}

interface Latencies {
  readonly hinted: readonly number[];
  readonly polled: readonly number[];
}

async function latencies(bench: Bench, nodes: Nodes, window: number): Promise<Latencies> {
  const hinted: number[] = [];
  const polled: number[] = [];
  let isMeasuring = false;
  const into = (list: number[]) => (frame: Buffer) => {
    const at = isMeasuring ? writtenAt(frame) : undefined;
    if (at !== undefined) list.push((clockMicroseconds() - at) / 1000);
  };
  const count = (window + 6) * PER_SECOND;
  const streams: OpenStream[] = [];
  const { signal } = bench;
  for (let stream = 0; stream < STREAMS; stream += 1) {
    const body = streamBody({ kind: "paced", count, perSecond: PER_SECOND });
    const own = openStream({ port: nodes.writer.port, body, signal });
    const id = /"id":"([^"]+)"/.exec(
      (await own.first).replaceAll(/"(?:context|message)Id":"[^"]*"/g, "").replace(/"id":1,/, ""),
    )?.[1];
    if (id === undefined) throw new Error("The first event has no task.");
    streams.push(own, openStream({ port: nodes.reader.port, body: subscribeBody(id), signal, onFrame: into(hinted) }));
    streams.push(openStream({ port: nodes.polling.port, body: subscribeBody(id), signal, onFrame: into(polled) }));
  }
  await sleep(2000);
  isMeasuring = true;
  await sleep(window * 1000);
  isMeasuring = false;
  for (const stream of streams) stream.close();
  return { hinted, polled };
}

function writtenAt(frame: Buffer): number | undefined {
  const text = frame.toString("latin1");
  const from = text.lastIndexOf(CLOCK_MARK, text.lastIndexOf(CLOCK_MARK) - 1);
  const at = Number(text.slice(from + 1, text.indexOf(CLOCK_MARK, from + 1)));
  return from < 0 || Number.isNaN(at) ? undefined : at;
}

interface LoadCosts {
  readonly eventsPerCommit: number;
  readonly databaseMicrosecondsPerEvent: number;
  readonly nodeMicrosecondsPerEvent: number;
  readonly walBytesPerEvent: number;
}

/** 500 streams as fast as the node writes them. */
async function loadCosts(
  bench: Bench,
  {
    admin,
    server,
    writer,
  }: { readonly admin: PostgresClient; readonly server: PostgresServer; readonly writer: ServerProcess },
  window: number,
): Promise<LoadCosts> {
  const figure = async (text: string): Promise<number> => Number((await admin.query(text)).rows[0]?.["n"]);
  const rows = () => figure("SELECT count(*) AS n FROM palaver.log");
  const events = () => figure("SELECT coalesce(sum(last - first + 1), 0) AS n FROM palaver.log");
  const commits = () => figure("SELECT coalesce(sum(n), 0) AS n FROM palaver.writer");
  const wal = () => figure("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS n");
  const measure = async () => ({
    ...{ rows: await rows(), events: await events(), commits: await commits(), wal: await wal() },
    ...{ database: treeMicroseconds(server.pid), node: treeMicroseconds(writer.pid) },
  });
  const before = await measure();
  const count = window * 200;
  const streams = Array.from({ length: 100 }, () =>
    openStream({ port: writer.port, body: streamBody({ kind: "paced", count, perSecond: 200 }), signal: bench.signal }),
  );
  await sleep(window * 1000);
  const after = await measure();
  for (const stream of streams) stream.close();
  const written = Math.max(1, after.events - before.events);
  return {
    eventsPerCommit: written / Math.max(1, after.commits - before.commits),
    databaseMicrosecondsPerEvent: (after.database - before.database) / written,
    nodeMicrosecondsPerEvent: (after.node - before.node) / written,
    walBytesPerEvent: (after.wal - before.wal) / written,
  };
}

/** Processor time of a process and its children, living and ended, in microseconds. Linux only; else 0. */
function treeMicroseconds(pid: number): number {
  const own = statOf(pid);
  const children = childrenOf(pid);
  return own + children.reduce((sum, child) => sum + treeMicroseconds(child), 0);
}

function statOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    // utime, stime, cutime, cstime, in ticks of 10 ms.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10_000, 0);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function idleRows({ perNode }: IdleCosts): Row[] {
  return [row(`${PARKED.toLocaleString("en")} parked tasks, queries per second and node`, perNode, { most: 3 })];
}

function latencyRows({ hinted, polled }: Latencies): Row[] {
  return [
    latency("event to a reader on another node, p50", percentile(hinted, 0.5), 5),
    latency("event to a reader on another node, p99", percentile(hinted, 0.99), 50),
    latency("the same without hints, p99", percentile(polled, 0.99), 1100),
  ];
}

function costRows(costs: LoadCosts): Row[] {
  return [
    row("events per commit under load", costs.eventsPerCommit, { least: 32 }),
    { work: "processor time of the node per event", figure: `${costs.nodeMicrosecondsPerEvent.toFixed(0)} µs` },
    { work: "processor time of PostgreSQL per event", figure: `${costs.databaseMicrosecondsPerEvent.toFixed(0)} µs` },
    { work: "write-ahead log per event", figure: `${costs.walBytesPerEvent.toFixed(0)} bytes` },
  ];
}

function latency(work: string, figure: number, most: number): Row {
  return { work, limit: `≤ ${most} ms`, figure: milliseconds(figure), ok: figure <= most };
}

function row(work: string, figure: number, { most, least }: { readonly most?: number; readonly least?: number }): Row {
  const limit = most === undefined ? `≥ ${least}` : `≤ ${most}`;
  return { work, limit, figure: plain(figure), ok: most === undefined ? figure >= (least ?? 0) : figure <= most };
}
