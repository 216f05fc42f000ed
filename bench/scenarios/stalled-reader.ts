import { palaverDurable } from "../contenders.ts";
import { megabytes, seconds } from "../format.ts";
import { type OpenStream, openStream, taskIdOf } from "../load/open-stream.ts";
import { streamBody, subscribeBody } from "../load/requests.ts";
import { peakDuring } from "../peak-memory.ts";
import type { Bench, Outcome, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";

/**
 * Some callers stop reading while others receive large streams: the server must not buffer for callers that do not
 * read.
 */
export const stalledReader: Scenario = {
  name: "stalled",
  title: "A reader that never reads",
  limitSeconds: [150, 90],
  run,
};

const MB = 1024 * 1024;
const CHUNK_BYTES = 16 * 1024;
const TASKS = 4;
const TASK_BYTES = 50 * MB;
const LIMIT_BYTES = 30 * MB;
/** Time for the second reader to join before the first chunk. */
const JOIN_MS = 300;

async function run(bench: Bench): Promise<Outcome> {
  const server = await bench.start(palaverDurable(bench));
  const start = (await server.usage({ collect: true })).rss;
  // The same with every caller reading, so that the memory that streaming always needs does not count.
  await streamAll(bench, server, 0);
  const before = (await server.usage({ collect: true })).rss;

  const began = performance.now();
  const stalled: OpenStream[] = [];
  const work = async () => {
    stalled.push(...(await streamAll(bench, server, 1)));
  };
  const peak = await peakDuring(server, work());
  const took = (performance.now() - began) / 1000;
  const after = (await server.usage({ collect: true })).rss;
  for (const stream of stalled) stream.close();

  const growth = after - before;
  return {
    rows: [
      {
        work: "Palaver durable, RSS after GC, ~200 MB past stalled readers",
        limit: "< 30 MB",
        figure: `+${megabytes(growth)}`,
        ok: growth < LIMIT_BYTES,
      },
      { work: "before that: ~200 MB to callers that all read", figure: `+${megabytes(before - start)}` },
    ],
    notes: [
      `${TASKS} tasks of ${megabytes(TASK_BYTES)}, each with one caller that reads all and one that stops after its first event; took ${seconds(took)}.`,
      `RSS at start ${megabytes(start)}, all reading ${megabytes(before)}, stalled ${megabytes(after)} (peak ${megabytes(peak)}).`,
    ],
    data: { start, before, peak, after, seconds: took },
  };
}

/** Resolves with the callers that stopped reading, `stalled` on each task, still connected. */
async function streamAll(bench: Bench, server: ServerProcess, stalled: number): Promise<OpenStream[]> {
  const waiting: OpenStream[] = [];
  for (let task = 0; task < TASKS; task += 1) {
    bench.progress(`task ${task + 1} of ${TASKS}, ${megabytes(TASK_BYTES)}: ${stalled} stalled`);
    waiting.push(...(await streamPast(bench, server, { bytes: TASK_BYTES, stalled })));
  }
  return waiting;
}

interface Past {
  readonly bytes: number;
  /** Number of readers that stop reading. */
  readonly stalled: number;
}

/**
 * Streams a task to one caller that reads all of it, and to callers that stop. Resolves with the latter, still
 * connected.
 */
async function streamPast(bench: Bench, { port }: ServerProcess, { bytes, stalled }: Past): Promise<OpenStream[]> {
  const count = Math.ceil(bytes / CHUNK_BYTES);
  const body = streamBody({ kind: "chunks", count, bytes: CHUNK_BYTES, delayMs: JOIN_MS });
  const reader = openStream({ port, body, signal: bench.signal });
  const id = taskIdOf(await reader.first);
  const others: OpenStream[] = [];
  for (let index = 0; index < stalled; index += 1) {
    const other = openStream({ port, body: subscribeBody(id), signal: bench.signal });
    await other.first;
    other.stall();
    others.push(other);
  }
  const received = await reader.ended;
  if (received < count) throw new Error(`The reading caller received ${received} of ${count} chunks.`);
  return others;
}
