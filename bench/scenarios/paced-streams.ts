import { PALAVER_MEMORY, palaverDurable, startAll } from "../contenders.ts";
import { milliseconds, plain, spread } from "../format.ts";
import { type OpenStream, openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { CLOCK_MARK, clockMicroseconds } from "../servers/workload.ts";
import { median, percentile, ratios, summarize } from "../statistics.ts";

/** A thousand concurrent callers, each with a stream of twenty chunks per second, as language models produce them. */
export const pacedStreams: Scenario = {
  name: "paced",
  title: "1,000 streams × 20 events/s",
  limitSeconds: [150, 60],
  run,
};

const STREAMS = 1_000;
const PER_SECOND = 20;
/** Streams are opened in batches of this size, and measured when all are open and the server is warm. */
const OPEN_PER_TICK = 20;
const SETTLE_SECONDS = 2;

interface Measured {
  readonly delivered: number;
  readonly offered: number;
  /** Milliseconds from the agent's write to the caller's receipt. */
  readonly p50: number;
  readonly p99: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const window = bench.quick ? 4 : 10;
  const rounds = bench.quick ? 1 : Math.min(bench.runs, 3);
  const { servers, notes } = await startAll(bench, [palaverDurable(bench), PALAVER_MEMORY]);
  const measured = new Map<string, Measured[]>(servers.map(({ label }) => [label, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const server of servers) {
      bench.progress(`round ${round + 1} of ${rounds}: ${server.label}, ${window} s`);
      measured.get(server.label)?.push(await measure(bench, server, window));
    }
  }
  const of = (label: string, member: keyof Measured) => (measured.get(label) ?? []).map((one) => one[member]);
  return {
    rows: [
      ratioRow(ratios(of("Palaver durable", "delivered"), of(PALAVER_MEMORY.label, "delivered"))),
      offeredRow("Palaver durable", of),
      offeredRow(PALAVER_MEMORY.label, of),
      ...latencyRows("Palaver durable", of, { p50: 10, p99: 100 }),
      ...latencyRows(PALAVER_MEMORY.label, of),
    ],
    notes: [
      `Events received in ${window} s, of ${(STREAMS * PER_SECOND * window).toLocaleString("en")} offered: ${servers
        .map(({ label }) => `${label} ${median(of(label, "delivered")).toLocaleString("en")}`)
        .join(", ")}. Latency: from the author's write to the caller's receipt.`,
      ...notes,
    ],
    data: Object.fromEntries(measured),
  };
}

async function measure(bench: Bench, { port }: ServerProcess, window: number): Promise<Measured> {
  const latencies: number[] = [];
  let measuring = false;
  const onFrame = (frame: Buffer) => {
    if (!measuring) return;
    const written = writtenAt(frame);
    if (written !== undefined) latencies.push((clockMicroseconds() - written) / 1000);
  };
  const openSeconds = (STREAMS / OPEN_PER_TICK) * 0.02;
  const count = Math.ceil((openSeconds + SETTLE_SECONDS + window + 2) * PER_SECOND);
  const body = () => streamBody({ kind: "paced", count, perSecond: PER_SECOND });
  const streams: OpenStream[] = [];
  try {
    while (streams.length < STREAMS) {
      for (let some = 0; some < OPEN_PER_TICK; some += 1) {
        streams.push(openStream({ port, body: body(), signal: bench.signal, onFrame }));
      }
      await pause(20);
    }
    await Promise.all(streams.map(({ first }) => first));
    await pause(SETTLE_SECONDS * 1000);
    const start = performance.now();
    measuring = true;
    await pause(window * 1000);
    measuring = false;
    // The pause may have lasted longer than requested.
    const delivered = Math.round(latencies.length * ((window * 1000) / (performance.now() - start)));
    await Promise.all(streams.map(({ ended }) => ended));
    return {
      delivered,
      offered: STREAMS * PER_SECOND * window,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    };
  } finally {
    for (const stream of streams) stream.close();
  }
}

const MARK = CLOCK_MARK.charCodeAt(0);

/** The time of writing in a paced chunk. */
function writtenAt(frame: Buffer): number | undefined {
  const start = frame.indexOf(MARK);
  if (start < 0) return undefined;
  let time = 0;
  for (let index = start + 1; ; index += 1) {
    const digit = (frame[index] ?? MARK) - 48;
    if (digit < 0 || digit > 9) return time;
    time = time * 10 + digit;
  }
}

function ratioRow(list: readonly number[]): Row {
  const summary = summarize(list);
  return {
    work: "Palaver durable ÷ in memory, events delivered",
    limit: "≥ 0.9",
    figure: plain(summary.median),
    ok: summary.median >= 0.9,
    ...spread(summary, plain),
  };
}

/** A ratio between two servers says little if both deliver fewer events than the agents write. */
function offeredRow(label: string, of: (label: string, member: keyof Measured) => number[]): Row {
  const summary = summarize(ratios(of(label, "delivered"), of(label, "offered")));
  return { work: `${label}, delivered of offered`, figure: plain(summary.median), ...spread(summary, plain) };
}

function latencyRows(
  label: string,
  of: (label: string, member: keyof Measured) => number[],
  limits?: { readonly p50: number; readonly p99: number },
): Row[] {
  return (["p50", "p99"] as const).map((member): Row => {
    const summary = summarize(of(label, member));
    const row: Row = {
      work: `${label}, latency ${member}`,
      figure: milliseconds(summary.median),
      ...spread(summary, milliseconds),
    };
    const limit = limits?.[member];
    return limit === undefined ? row : { ...row, limit: `≤ ${limit} ms`, ok: summary.median <= limit };
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
