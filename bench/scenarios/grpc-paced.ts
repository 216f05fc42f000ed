import { palaverDurable } from "../contenders.ts";
import { spread, times } from "../format.ts";
import { openSession } from "../load/grpc-calls.ts";
import { openGrpcStream } from "../load/grpc-stream.ts";
import { openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";

/** Streams at the pace of language models over gRPC, beside the same streams as Server-Sent Events: processor time per event. */
export const grpcPaced: Scenario = {
  name: "grpc-paced",
  title: "gRPC: 200 streams × 20 events/s",
  limitSeconds: [300, 150],
  run,
};

const STREAMS = 200;
const PER_SECOND = 20;
const SETTLE_SECONDS = 1;
/** Streams of one connection, for callers that share one. */
const SHARED = 50;

/** Opens all streams. */
interface Kind {
  readonly label: string;
  open(bench: Bench, server: ServerProcess, count: number): Opened;
}

interface Opened {
  readonly first: Promise<unknown>;
  readonly ended: Promise<unknown>;
  readonly received: () => number;
  close(): void;
}

const SSE: Kind = {
  label: "SSE",
  open(bench, { port }, count) {
    let received = 0;
    const streams = Array.from({ length: STREAMS }, () =>
      openStream({
        port,
        body: streamBody({ kind: "paced", count, perSecond: PER_SECOND }),
        signal: bench.signal,
        onFrame: () => {
          received += 1;
        },
      }),
    );
    return {
      first: Promise.all(streams.map(({ first }) => first)),
      ended: Promise.all(streams.map(({ ended }) => ended)),
      received: () => received,
      close: () => {
        for (const stream of streams) stream.close();
      },
    };
  },
};

function grpcKind(label: string, perConnection: number): Kind {
  return {
    label,
    open(_bench, { port }, count) {
      const sessions = Array.from({ length: Math.ceil(STREAMS / perConnection) }, () => openSession(port));
      const streams = sessions.flatMap((session) =>
        Array.from({ length: perConnection }, () =>
          openGrpcStream(session, { kind: "paced", count, perSecond: PER_SECOND }),
        ),
      );
      return {
        first: Promise.all(streams.map(({ first }) => first)),
        ended: Promise.all(streams.map(({ ended }) => ended)),
        received: () => streams.reduce((sum, { received }) => sum + received, 0),
        close: () => {
          for (const session of sessions) session.destroy();
        },
      };
    },
  };
}

const KINDS: readonly Kind[] = [
  SSE,
  grpcKind("gRPC, a connection per stream", 1),
  grpcKind(`gRPC, ${SHARED} streams per connection`, SHARED),
];

async function run(bench: Bench): Promise<Outcome> {
  const window = bench.quick ? 3 : 6;
  const server = await bench.start(palaverDurable(bench));
  // Not measured: the first run of each kind compiles its code.
  for (const kind of KINDS) await measure(bench, server, { kind, window: 1 });
  const costs = new Map<string, number[]>(KINDS.map(({ label }) => [label, []]));
  for (let round = 0; round < bench.runs; round += 1) {
    for (const kind of KINDS) {
      bench.progress(`round ${round + 1} of ${bench.runs}: ${kind.label}, ${window} s`);
      costs.get(kind.label)?.push(await measure(bench, server, { kind, window }));
    }
  }
  return {
    rows: [
      ...KINDS.slice(1).map(({ label }) => ratioRow(costs, label)),
      ...KINDS.map(({ label }) => row(costs, label)),
    ],
    notes: [`${bench.runs} alternated runs of ${window} s; ${STREAMS} streams of ${PER_SECOND} events a second.`],
    data: Object.fromEntries(costs),
  };
}

/** Microseconds of the server's processor time per event that callers received. */
async function measure(
  bench: Bench,
  server: ServerProcess,
  { kind, window }: { readonly kind: Kind; readonly window: number },
): Promise<number> {
  const opened = kind.open(bench, server, Math.ceil((SETTLE_SECONDS + window + 2) * PER_SECOND));
  try {
    await opened.first;
    await pause(SETTLE_SECONDS * 1000);
    const before = (await server.usage({ collect: false })).cpuSeconds;
    const received = opened.received();
    await pause(window * 1000);
    const events = opened.received() - received;
    const used = (await server.usage({ collect: false })).cpuSeconds - before;
    await opened.ended;
    return (used / events) * 1e6;
  } finally {
    opened.close();
  }
}

function ratioRow(costs: ReadonlyMap<string, readonly number[]>, label: string): Row {
  const summary = summarize(ratios(costs.get(label) ?? [], costs.get(SSE.label) ?? []));
  return {
    work: `processor time per event, ${label} ÷ SSE`,
    figure: times(summary.median),
    ...spread(summary, times),
    limit: "≤ 1.5×",
    ok: summary.median <= 1.5,
  };
}

function row(costs: ReadonlyMap<string, readonly number[]>, label: string): Row {
  const summary = summarize(costs.get(label) ?? []);
  const micros = (value: number): string => `${value.toFixed(1)} µs`;
  return { work: `processor time per event: ${label}`, figure: micros(summary.median), ...spread(summary, micros) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
