import type { Socket } from "node:net";
import {
  alternate,
  type Figures,
  type Measured,
  PALAVER_MEMORY,
  palaverDurable,
  SDK_MEMORY,
  sdkDatabase,
  startAll,
} from "../contenders.ts";
import { rate, spread, times } from "../format.ts";
import { openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";

/** Sixteen concurrent callers, each with a stream of a hundred chunks. */
export const streamEvents: Scenario = {
  name: "stream",
  title: "16 streams × 100 chunks",
  limitSeconds: [180, 60],
  run,
};

const STREAMS = 16;
const CHUNKS = 100;
const CHUNK_BYTES = 24;

async function run(bench: Bench): Promise<Outcome> {
  const specs = [palaverDurable(bench), PALAVER_MEMORY, SDK_MEMORY, sdkDatabase(bench)];
  const { figures, notes } = await measureStreams(bench, specs);
  return {
    rows: [
      ratioRow(figures, "Palaver durable", 30),
      ratioRow(figures, PALAVER_MEMORY.label),
      ...Array.from(figures.keys(), (label) => absoluteRow(figures, label)),
    ],
    notes,
    data: Object.fromEntries(figures),
  };
}

/** Measures the events per second of each server. */
export async function measureStreams(bench: Bench, specs: readonly ServerSpec[]): Promise<Measured> {
  const seconds = bench.quick ? 1 : 3;
  const { servers, notes } = await startAll(bench, specs);
  for (const server of servers) {
    await checkStream(bench, server);
    bench.progress(`warming up ${server.label}`);
    await streamFor(bench, server, bench.quick ? 1 : 2);
  }
  const figures = await alternate(bench, servers, (server) => streamFor(bench, server, seconds));
  return {
    figures,
    notes: [`Events the callers received per second; ${bench.runs} alternated runs of ${seconds} s.`, ...notes],
  };
}

/** Resolves with events per second. */
async function streamFor(bench: Bench, { port }: ServerProcess, seconds: number): Promise<number> {
  const start = performance.now();
  const until = start + seconds * 1000;
  let events = 0;
  const idle: Socket[] = [];
  const caller = async () => {
    while (performance.now() < until) {
      const stream = openStream({ port, body: streamBody(workload), signal: bench.signal, idle });
      const received = await stream.ended;
      if (received < CHUNKS) throw new Error(`A stream ended after ${received} events.`);
      events += received;
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, caller));
  for (const socket of idle) socket.destroy();
  return events / ((performance.now() - start) / 1000);
}

const workload = { kind: "chunks", count: CHUNKS, bytes: CHUNK_BYTES, delayMs: 0 } as const;

/** Checks that every chunk arrives as its own event, in order. */
async function checkStream(bench: Bench, { label, port }: ServerProcess): Promise<void> {
  const texts: string[] = [];
  const onFrame = (frame: Buffer) => {
    const text = /"text":"(\d+) /.exec(frame.toString("utf8"))?.[1];
    if (text !== undefined && frame.includes("artifactUpdate")) texts.push(text);
  };
  await openStream({ port, body: streamBody(workload), signal: bench.signal, onFrame }).ended;
  const expected = Array.from({ length: CHUNKS }, (_, index) => String(index));
  if (texts.join() !== expected.join()) throw new Error(`${label} does not stream chunk by chunk: ${texts.join()}`);
}

function ratioRow(figures: Figures, label: string, limit?: number): Row {
  const summary = summarize(ratios(figures.get(label) ?? [], figures.get(SDK_MEMORY.label) ?? []));
  const row: Row = { work: `${label} ÷ SDK in memory`, figure: times(summary.median), ...spread(summary, times) };
  return limit === undefined ? row : { ...row, limit: `≥ ${limit}× (then 40×)`, ok: summary.median >= limit };
}

function absoluteRow(figures: Figures, label: string): Row {
  const summary = summarize(figures.get(label) ?? []);
  return { work: label, figure: rate(summary.median), ...spread(summary, rate) };
}
