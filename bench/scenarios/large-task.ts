import { palaverDurable } from "../contenders.ts";
import { megabytes, seconds } from "../format.ts";
import { openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import { peakDuring } from "../peak-memory.ts";
import type { Bench, Outcome, Scenario } from "../scenario.ts";

/** One task writes 200 MB, if allowed: the server must not keep it in memory. */
export const largeTask: Scenario = { name: "large-task", title: "One task of 200 MB", limitSeconds: [120, 60], run };

const MB = 1024 * 1024;
const CHUNK_BYTES = 16 * 1024;
const TASK_BYTES = 200 * MB;
const LIMIT_BYTES = 150 * MB;

async function run(bench: Bench): Promise<Outcome> {
  const server = await bench.start(palaverDurable(bench, { maxTaskBytes: 2 * TASK_BYTES }));
  const stream = async (bytes: number) => {
    const count = Math.ceil(bytes / CHUNK_BYTES);
    const body = streamBody({ kind: "chunks", count, bytes: CHUNK_BYTES, delayMs: 0 });
    const reader = openStream({ port: server.port, body, signal: bench.signal });
    const received = await reader.ended;
    if (received < count) throw new Error(`The caller received ${received} of ${count} chunks.`);
  };
  await stream(10 * MB);
  const before = (await server.usage({ collect: true })).rss;
  bench.progress("streaming 200 MB in one task");
  const began = performance.now();
  const work = stream(TASK_BYTES);
  const peak = await peakDuring(server, work);
  const took = (performance.now() - began) / 1000;
  const after = (await server.usage({ collect: true })).rss;
  const growth = after - before;
  return {
    rows: [
      {
        work: "Palaver durable, RSS after GC",
        limit: "< 150 MB",
        figure: `+${megabytes(growth)}`,
        ok: growth < LIMIT_BYTES,
      },
      { work: "Palaver durable, RSS at its peak", figure: `+${megabytes(peak - before)}` },
    ],
    notes: [
      `Streamed in ${seconds(took)}. RSS warm ${megabytes(before)}, peak ${megabytes(peak)}, after ${megabytes(after)}.`,
    ],
    data: { before, peak, after, seconds: took },
  };
}
