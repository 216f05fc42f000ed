import { PALAVER_MEMORY, palaverDurable, SDK_MEMORY, startAll } from "../contenders.ts";
import { plain, seconds, spread } from "../format.ts";
import { openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { growthExponent, summarize } from "../statistics.ts";

/** One caller streams one long answer: the cost of a chunk must not depend on the number of earlier chunks. */
export const longStream: Scenario = {
  name: "long-stream",
  title: "One stream of many chunks",
  limitSeconds: [180, 80],
  run,
};

const SIZES = [1_000, 10_000, 100_000] as const;
const LIMIT_SECONDS: Readonly<Record<number, number>> = { 10000: 0.25, 100000: 2.5 };
const CHUNK_BYTES = 24;

async function run(bench: Bench): Promise<Outcome> {
  const { servers, notes } = await startAll(bench, [palaverDurable(bench), PALAVER_MEMORY, SDK_MEMORY]);
  const peerLimit = bench.quick ? 10 : 30;
  const rows: Row[] = [];
  const data: Record<string, Record<number, readonly number[]>> = {};
  const peerNotes: string[] = [];
  const taken = new Map<string, number[]>();
  const key = (server: ServerProcess, size: number) => `${server.label} ${size}`;
  const ours = servers.filter(({ label }) => label !== SDK_MEMORY.label);

  for (const server of ours) await streamOnce(bench, server, 10_000);
  for (let round = 0; round < bench.runs; round += 1) {
    for (const size of SIZES) {
      for (const server of ours) {
        bench.progress(`round ${round + 1} of ${bench.runs}: ${server.label}, ${size} chunks`);
        const list = taken.get(key(server, size)) ?? [];
        list.push(await streamOnce(bench, server, size));
        taken.set(key(server, size), list);
      }
    }
  }
  for (const server of servers.filter(({ label }) => label === SDK_MEMORY.label)) {
    for (const size of [1_000, 10_000]) {
      bench.progress(`${server.label}, ${size} chunks, at most ${peerLimit} s`);
      const result = await streamLimited(bench, server, { size, limitSeconds: peerLimit });
      if (typeof result === "number") taken.set(key(server, size), [result]);
      else peerNotes.push(`${server.label}: ${result}`);
    }
  }

  for (const server of servers) {
    data[server.label] = {};
    for (const size of SIZES) {
      const list = taken.get(key(server, size));
      if (list === undefined) continue;
      Object.assign(data[server.label] ?? {}, { [size]: list });
      rows.push(sizeRow(server, size, list));
    }
    rows.push(...growthRows(server, (size) => summarize(taken.get(key(server, size)) ?? []).median));
  }
  return { rows, notes: [...peerNotes, ...notes], data };
}

async function streamOnce({ signal }: Bench, { port }: ServerProcess, size: number): Promise<number> {
  const start = performance.now();
  const body = streamBody({ kind: "chunks", count: size, bytes: CHUNK_BYTES, delayMs: 0 });
  const received = await openStream({ port, body, signal }).ended;
  if (received < size) throw new Error(`A stream of ${size} chunks ended after ${received} events.`);
  return (performance.now() - start) / 1000;
}

interface LimitedStream {
  readonly size: number;
  readonly limitSeconds: number;
}

/** Seconds, or a text that says how far the stream came. */
async function streamLimited(
  bench: Bench,
  server: ServerProcess,
  { size, limitSeconds }: LimitedStream,
): Promise<number | string> {
  const limit = AbortSignal.timeout(limitSeconds * 1000);
  let received = 0;
  const body = streamBody({ kind: "chunks", count: size, bytes: CHUNK_BYTES, delayMs: 0 });
  const onFrame = () => {
    received += 1;
  };
  const start = performance.now();
  try {
    await openStream({ port: server.port, body, signal: AbortSignal.any([bench.signal, limit]), onFrame }).ended;
    return (performance.now() - start) / 1000;
  } catch (error) {
    if (!limit.aborted) throw error;
    return `${size.toLocaleString("en")} chunks stopped after ${limitSeconds} s, ${received.toLocaleString("en")} events received`;
  }
}

function sizeRow(server: ServerProcess, size: number, list: readonly number[]): Row {
  const summary = summarize(list);
  const limit = server.label === "Palaver durable" ? LIMIT_SECONDS[size] : undefined;
  return {
    work: `${server.label}, ${size.toLocaleString("en")} chunks`,
    figure: seconds(summary.median),
    ...spread(summary, seconds),
    ...(limit !== undefined && { limit: `≤ ${limit} s`, ok: summary.median <= limit }),
  };
}

/** Tolerance: at a thousand chunks, opening the stream still counts. */
const LINEAR = 1.15;

function growthRows(server: ServerProcess, secondsAt: (size: number) => number): Row[] {
  const pairs: readonly (readonly [number, number])[] = [
    [1_000, 10_000],
    [10_000, 100_000],
  ];
  return pairs.flatMap(([small, large]): Row[] => {
    const k = growthExponent({ size: small, cost: secondsAt(small) }, { size: large, cost: secondsAt(large) });
    if (Number.isNaN(k)) return [];
    const work = `${server.label}, growth ${small / 1000}k → ${large / 1000}k`;
    const row: Row = { work, figure: `chunks^${plain(k)}` };
    return [server.label === "Palaver durable" ? { ...row, limit: `linear (≤ ${LINEAR})`, ok: k <= LINEAR } : row];
  });
}
