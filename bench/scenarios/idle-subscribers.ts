import { BARE_SSE, PALAVER_MEMORY, palaverDurable } from "../contenders.ts";
import { kilobytes } from "../format.ts";
import { call } from "../load/call.ts";
import { inParallel } from "../load/in-parallel.ts";
import { type OpenStream, openStream } from "../load/open-stream.ts";
import { sendBody, subscribeBody } from "../load/requests.ts";
import { memoryInUse } from "../memory-in-use.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";

/** Many callers wait for tasks that write nothing: each may use only little memory of the server. */
export const idleSubscribers: Scenario = { name: "idle", title: "Idle subscribers", limitSeconds: [120, 60], run };

const SUBSCRIBERS = 2_000;
const LIMIT_BYTES = 15 * 1024;

interface Cost {
  /** Heap and external memory after garbage collection, in bytes per subscriber. */
  readonly perSubscriber: number;
  readonly perTask?: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const durable = await measurePalaver(bench, palaverDurable(bench));
  const memory = await measurePalaver(bench, PALAVER_MEMORY);
  const bare = await measureBare(bench);
  const row = (work: string, { perSubscriber, perTask }: Cost): Row => ({
    work,
    figure:
      kilobytes(perSubscriber) + (perTask === undefined ? "" : ` (and ${kilobytes(perTask)} for its waiting task)`),
  });
  return {
    rows: [
      {
        ...row("Palaver durable, each subscriber", durable),
        limit: "≤ 15 KB",
        ok: durable.perSubscriber <= LIMIT_BYTES,
      },
      row("Palaver in memory, each subscriber", memory),
      row("bare node:http SSE, each subscriber", bare),
    ],
    notes: [`${SUBSCRIBERS.toLocaleString("en")} subscribers, one on each waiting task; heap + external after GC.`],
    data: { durable, memory, bare },
  };
}

async function measurePalaver(bench: Bench, spec: ServerSpec): Promise<Cost> {
  const server = await bench.start(spec);
  bench.progress(`${server.label}: ${SUBSCRIBERS} waiting tasks`);
  const make = async () => {
    const { task } = await call(server.port, sendBody({ kind: "wait" }, { returnImmediately: true }));
    if (task === undefined) throw new Error("A send created no task.");
    return task.id;
  };
  // Warm up, so that memory which is allocated once does not count per subscriber.
  const early = await inParallel(100, make);
  await useOnce(bench, server, early.map(subscribeBody));
  const empty = await memoryInUse(server);
  const ids = await inParallel(SUBSCRIBERS, make);
  const waiting = await memoryInUse(server);
  bench.progress(`${server.label}: ${SUBSCRIBERS} subscribers`);
  const perSubscriber = await subscribe(bench, server, { bodies: ids.map(subscribeBody), before: waiting });
  await server.stop();
  return { perSubscriber, perTask: (waiting - empty) / SUBSCRIBERS };
}

async function measureBare(bench: Bench): Promise<Cost> {
  const server = await bench.start(BARE_SSE);
  bench.progress(`${server.label}: ${SUBSCRIBERS} subscribers`);
  await useOnce(
    bench,
    server,
    Array.from({ length: 100 }, () => subscribeBody("any")),
  );
  const bodies = Array.from({ length: SUBSCRIBERS }, () => subscribeBody("any"));
  const perSubscriber = await subscribe(bench, server, { bodies, before: await memoryInUse(server) });
  await server.stop();
  return { perSubscriber };
}

async function useOnce(bench: Bench, server: ServerProcess, bodies: readonly string[]): Promise<void> {
  await subscribe(bench, server, { bodies, before: 0 });
}

interface Subscriptions {
  readonly bodies: readonly string[];
  /** Bytes in use before. */
  readonly before: number;
}

/** Bytes per subscriber, after all have received their first event. */
async function subscribe(bench: Bench, server: ServerProcess, { bodies, before }: Subscriptions): Promise<number> {
  const streams: OpenStream[] = [];
  try {
    for (let start = 0; start < bodies.length; start += 100) {
      const some = bodies
        .slice(start, start + 100)
        .map((body) => openStream({ port: server.port, body, signal: bench.signal }));
      streams.push(...some);
      await Promise.all(some.map(({ first }) => first));
    }
    return ((await memoryInUse(server)) - before) / bodies.length;
  } finally {
    for (const stream of streams) stream.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
