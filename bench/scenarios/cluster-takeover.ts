import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres, whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { milliseconds } from "../format.ts";
import { type OpenStream, openStream, taskIdOf } from "../load/open-stream.ts";
import { cancelBody, HEADERS, streamBody, subscribeBody } from "../load/requests.ts";
import { type Bench, NotMeasurable, type Outcome, type Row, type Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { percentile } from "../statistics.ts";

/** How long tasks stand still when their node is killed, and when it shuts down. */
export const clusterTakeover: Scenario = {
  name: "cluster-takeover",
  title: "Three nodes on one PostgreSQL: take-over after kill -9 and SIGTERM",
  limitSeconds: [600, 240],
  run,
};

const TASKS = 20;
/** Events of a task per second. */
const PER_SECOND = 25;

async function run(bench: Bench): Promise<Outcome> {
  const reason = await whyNoPostgres();
  if (reason !== undefined) throw new NotMeasurable(reason);
  const database = await startPostgres();
  let starts = 0;
  const start = (): Promise<ServerProcess> => {
    starts += 1;
    return bench.start({ label: `node ${starts}`, script: "palaver", config: { postgres: database.url } });
  };
  try {
    const first = await start();
    const nodes = [first, ...(await Promise.all([start(), start()]))];
    const gaps: Record<"SIGKILL" | "SIGTERM", number[]> = { SIGKILL: [], SIGTERM: [] };
    const rounds = bench.quick ? 2 : 10;
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      for (let round = 0; round < rounds; round += 1) {
        bench.progress(`${signal}, round ${round + 1} of ${rounds}`);
        const [stopped, reader] = nodes;
        if (stopped === undefined || reader === undefined) throw new Error("There are too few nodes.");
        gaps[signal].push(...(await measure(bench, { stopped, reader, signal })));
        nodes.shift();
        nodes.push(await start());
      }
    }
    return {
      rows: [...rowsOf("kill -9", gaps.SIGKILL, 6000), ...rowsOf("SIGTERM", gaps.SIGTERM, 300)],
      notes: [NOTE],
      data: gaps,
    };
  } finally {
    await database.stop();
  }
}

const NOTE = `${TASKS} tasks with ${PER_SECOND} events per second each. Milliseconds from the last event that a reader on another node received to the next one, the longest pause of each stream after the signal. The replay of a task takes no time of its own. The drain time is the default.`;

interface Stop {
  readonly stopped: ServerProcess;
  readonly reader: ServerProcess;
  readonly signal: "SIGKILL" | "SIGTERM";
}

/** Per task: the longest pause of its stream after the signal. */
async function measure({ signal }: Bench, { stopped, reader, signal: fault }: Stop): Promise<readonly number[]> {
  const streams: OpenStream[] = [];
  const ids: string[] = [];
  const arrivals: number[][] = [];
  for (let task = 0; task < TASKS; task += 1) {
    const body = streamBody({ kind: "resumed", count: 60 * PER_SECOND, perSecond: PER_SECOND });
    const sent = openStream({ port: stopped.port, body, signal });
    const times: number[] = [];
    arrivals.push(times);
    const onFrame = (): void => void times.push(performance.now());
    const id = taskIdOf(await sent.first);
    sent.close();
    ids.push(id);
    streams.push(openStream({ port: reader.port, body: subscribeBody(id), signal, onFrame }));
  }
  await sleep(1500 + Math.random() * 1000);
  const at = performance.now();
  process.kill(stopped.pid, fault);
  await sleep(fault === "SIGKILL" ? 9000 : 3000);
  for (const stream of streams) stream.close();
  // The next round has its own tasks only.
  await Promise.all(ids.map((id) => cancel(reader, id)));
  return arrivals.map((times) => longestPause(times, at));
}

async function cancel({ port }: ServerProcess, id: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: HEADERS, body: cancelBody(id) });
  await response.text();
}

function longestPause(times: readonly number[], since: number): number {
  let longest = 0;
  for (const [index, time] of times.entries()) {
    const before = times[index - 1];
    if (before !== undefined && time > since) longest = Math.max(longest, time - before);
  }
  // No event came after the signal.
  return (times.at(-1) ?? 0) > since ? longest : Number.POSITIVE_INFINITY;
}

function rowsOf(what: string, gaps: readonly number[], most: number): Row[] {
  const p99 = percentile(gaps, 0.99);
  return [
    { work: `${what} to the next event, p50`, figure: milliseconds(percentile(gaps, 0.5)) },
    { work: `${what} to the next event, p99`, limit: `≤ ${most} ms`, figure: milliseconds(p99), ok: p99 <= most },
  ];
}
