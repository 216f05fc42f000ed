import { setTimeout as sleep } from "node:timers/promises";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { createOf, headOf, taskId } from "../../src/testing/store-operations.ts";
import { type PostgresServer, startPostgres, whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { AGENT_ID } from "../agent-id.ts";
import { busyShare, machineMicroseconds } from "../cluster/processor-time.ts";
import { milliseconds, plain } from "../format.ts";
import { type OpenStream, openStream, taskIdOf } from "../load/open-stream.ts";
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
    bench.progress(`${PARKED} parked tasks, idle for ${window * 2} s`);
    const idle = await idleCosts(admin, window);
    bench.progress(`${STREAMS} streams on one node, read on two others, for ${window} s`);
    const paced = await latencies(bench, { writer, reader, polling }, window);
    return {
      rows: [...idleRows(idle), ...latencyRows(paced)],
      notes: [noteOf(paced)],
      data: { idle, paced },
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
  // PostgreSQL's own work is not counted: it examines the new tasks.
  await admin.query("ALTER SYSTEM SET autovacuum = off");
  await admin.query("SELECT pg_reload_conf()");
  // A connection that is idle reports its last transactions up to 10 s later: those of the start must not be counted.
  await sleep(12_000);
  const before = await transactions();
  await sleep(window * 2000);
  const perNode = ((await transactions()) - before - 1) / (window * 2) / 3;
  await admin.query("ALTER SYSTEM RESET autovacuum");
  await admin.query("SELECT pg_reload_conf()");
  return { perNode };
}

/** Milliseconds from the author's write to the receipt of each event. */
interface Latencies {
  /** On the node that writes: what remains without a second node. */
  readonly own: readonly number[];
  readonly hinted: readonly number[];
  readonly polled: readonly number[];
  /** The part of all processors that was in use. Latency says little of the code if it is near 1. */
  readonly busy: number;
}

async function latencies(bench: Bench, nodes: Nodes, window: number): Promise<Latencies> {
  const own: number[] = [];
  const hinted: number[] = [];
  const polled: number[] = [];
  let isMeasuring = false;
  const into = (list: number[]) => (frame: Buffer) => {
    if (isMeasuring) for (const at of writtenAt(frame)) list.push((clockMicroseconds() - at) / 1000);
  };
  const count = (window + 6) * PER_SECOND;
  const streams: OpenStream[] = [];
  const { signal } = bench;
  for (let stream = 0; stream < STREAMS; stream += 1) {
    const body = streamBody({ kind: "paced", count, perSecond: PER_SECOND });
    const sent = openStream({ port: nodes.writer.port, body, signal, onFrame: into(own) });
    const id = taskIdOf(await sent.first);
    streams.push(sent, openStream({ port: nodes.reader.port, body: subscribeBody(id), signal, onFrame: into(hinted) }));
    streams.push(openStream({ port: nodes.polling.port, body: subscribeBody(id), signal, onFrame: into(polled) }));
  }
  await sleep(2000);
  const [began, used] = [performance.now(), machineMicroseconds()];
  isMeasuring = true;
  await sleep(window * 1000);
  isMeasuring = false;
  const busy = busyShare(machineMicroseconds() - used, (performance.now() - began) / 1000);
  for (const stream of streams) stream.close();
  return { own, hinted, polled, busy };
}

/** The times of writing of the chunks of a frame: a reader that is behind gets several in one. */
function writtenAt(frame: Buffer): readonly number[] {
  const parts = frame.toString("latin1").split(CLOCK_MARK);
  return parts.filter((_, index) => index % 2 === 1).map(Number);
}

function idleRows({ perNode }: IdleCosts): Row[] {
  return [row(`${PARKED.toLocaleString("en")} parked tasks, queries per second and node`, perNode, { most: 3 })];
}

function latencyRows({ own, hinted, polled }: Latencies): Row[] {
  return [
    { work: "event to a reader on the node that writes, p50", figure: milliseconds(percentile(own, 0.5)) },
    { work: "event to a reader on the node that writes, p99", figure: milliseconds(percentile(own, 0.99)) },
    latency("event to a reader on another node, p50", percentile(hinted, 0.5), 5),
    latency("event to a reader on another node, p99", percentile(hinted, 0.99), 50),
    latency("the same without hints, p99", percentile(polled, 0.99), 1100),
  ];
}

function noteOf({ hinted, busy }: Latencies): string {
  return `${STREAMS} streams × ${PER_SECOND} events/s, three nodes, database and readers on one machine: ${hinted.length.toLocaleString("en")} events measured, ${Math.round(busy * 100)} % of its processors in use.`;
}

function latency(work: string, figure: number, most: number): Row {
  return { work, limit: `≤ ${most} ms`, figure: milliseconds(figure), ok: figure <= most };
}

function row(work: string, figure: number, { most, least }: { readonly most?: number; readonly least?: number }): Row {
  const limit = most === undefined ? `≥ ${least}` : `≤ ${most}`;
  return { work, limit, figure: plain(figure), ok: most === undefined ? figure >= (least ?? 0) : figure <= most };
}
