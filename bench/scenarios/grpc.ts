import type { ClientHttp2Session } from "node:http2";
import { alternate, type Figures, PALAVER_MEMORY, palaverDurable, startAll } from "../contenders.ts";
import { rate, spread, times } from "../format.ts";
import { grpcCall, openSession } from "../load/grpc-calls.ts";
import { openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";

/** Sends and streams over gRPC, beside the same streams as Server-Sent Events. */
export const grpc: Scenario = {
  name: "grpc",
  title: "gRPC: sends, and 16 streams × 100 chunks",
  limitSeconds: [420, 150],
  run,
};

const SDK_GRPC: ServerSpec = { label: "SDK over gRPC, in memory", script: "sdk-grpc" };
const STREAMS = 16;
const CHUNKS = 100;
const workload = { kind: "chunks", count: CHUNKS, bytes: 24, delayMs: 0 } as const;
const PALAVER = "Palaver durable";

async function run(bench: Bench): Promise<Outcome> {
  const seconds = bench.quick ? 1 : 3;
  const { servers, notes } = await startAll(bench, [palaverDurable(bench), PALAVER_MEMORY, SDK_GRPC]);
  const sessions = new Map(servers.map((server) => [server, openSession(server.port)]));
  const session = (server: ServerProcess): ClientHttp2Session => sessions.get(server) ?? openSession(server.port);
  const stream = (server: ServerProcess) => grpcCall(session(server), "stream", workload);
  const send = (server: ServerProcess) => grpcCall(session(server), "send", { kind: "answer" });
  const sse = ({ port }: ServerProcess) => openStream({ port, body: streamBody(workload), signal: bench.signal }).ended;
  const palaver = servers.filter(({ label }) => label !== SDK_GRPC.label);
  // Not measured: Node compiles the code while it runs.
  const warmUpSeconds = bench.quick ? 3 : 10;
  for (const server of servers) {
    bench.progress(`${server.label}: warming up`);
    await repeat(warmUpSeconds, () => stream(server));
    await repeat(warmUpSeconds / 2, () => send(server));
  }
  for (const server of palaver) await repeat(warmUpSeconds, () => sse(server));
  const processor = new Map<string, number[]>();
  const timed = async (label: string, server: ServerProcess, work: () => Promise<Rate>): Promise<number> => {
    const before = (await server.usage({ collect: false })).cpuSeconds;
    const { count, perSecond } = await work();
    const micros = (((await server.usage({ collect: false })).cpuSeconds - before) / count) * 1e6;
    processor.set(label, [...(processor.get(label) ?? []), micros]);
    return perSecond;
  };
  const events = new Map<string, number[]>(palaver.map(({ label }) => [label, []]));
  const streams = await alternate(bench, servers, async (server) => {
    const { label } = server;
    const overGrpc = await timed(`gRPC ${label}`, server, () => repeat(seconds, () => stream(server)));
    // In the same round, so that other load on the machine affects both alike.
    const own = events.get(label);
    own?.push(await timed(`SSE ${label}`, server, () => repeat(seconds, () => sse(server))));
    return overGrpc;
  });
  const sends = await alternate(bench, servers, (server) =>
    timed(`sends ${server.label}`, server, () => repeat(seconds, () => send(server))),
  );
  for (const open of sessions.values()) open.destroy();
  const cost = summarize(ratios(processor.get(`gRPC ${PALAVER}`) ?? [], processor.get(`SSE ${PALAVER}`) ?? []));
  const ofSdk = `gRPC ${SDK_GRPC.label}`;
  const cheaper = summarize(ratios(processor.get(ofSdk) ?? [], processor.get(`gRPC ${PALAVER}`) ?? []));
  const faster = summarize(ratios(streams.get(PALAVER) ?? [], streams.get(SDK_GRPC.label) ?? []));
  return {
    rows: [
      {
        work: "processor time per event, gRPC ÷ SSE, durable",
        figure: times(cost.median),
        ...spread(cost, times),
        limit: "≤ 1.5×",
        ok: cost.median <= 1.5,
      },
      {
        work: "events, Palaver durable ÷ SDK over gRPC",
        figure: times(faster.median),
        ...spread(faster, times),
        limit: "≥ 10×",
        ok: faster.median >= 10,
      },
      {
        work: "processor time per event, SDK over gRPC ÷ Palaver durable",
        figure: times(cheaper.median),
        ...spread(cheaper, times),
      },
      ...rowsOf("events over gRPC", streams),
      ...rowsOf("events over SSE", events),
      ...rowsOf("sends over gRPC", sends),
      ...Array.from(processor, ([label, values]): Row => {
        const summary = summarize(values);
        const work = `processor time, ${label.startsWith("sends") ? "gRPC" : "events of"} ${label}`;
        return { work, figure: micros(summary.median), ...spread(summary, micros) };
      }),
    ],
    notes: [
      `${bench.runs} alternated runs of ${seconds} s after ${warmUpSeconds} s of warm-up; ${STREAMS} callers, over one connection for gRPC.`,
      ...notes,
    ],
    data: {
      streams: Object.fromEntries(streams),
      sends: Object.fromEntries(sends),
      processor: Object.fromEntries(processor),
    },
  };
}

function micros(value: number): string {
  return `${value.toFixed(0)} µs`;
}

interface Rate {
  readonly count: number;
  readonly perSecond: number;
}

/** Sixteen callers that repeat a call for this many seconds. */
async function repeat(seconds: number, call: () => Promise<number>): Promise<Rate> {
  const start = performance.now();
  const until = start + seconds * 1000;
  let count = 0;
  const caller = async () => {
    while (performance.now() < until) {
      const received = await call();
      // Not `count += await …`, which would add to the count as it was before the call.
      count += received;
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, caller));
  return { count, perSecond: count / ((performance.now() - start) / 1000) };
}

function rowsOf(work: string, figures: Figures): readonly Row[] {
  return Array.from(figures, ([label, values]) => {
    const summary = summarize(values);
    return { work: `${work}: ${label}`, figure: rate(summary.median), ...spread(summary, rate) };
  });
}
