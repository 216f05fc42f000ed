import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampled } from "../fixtures/budget.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { type Call, collect, eventsOf, type Frame, idsUpTo, must, open, sendParams, type Task, textOf } from "./rpc.ts";
import { fixture, Workbench } from "./workbench.ts";

const CUTS = sampled(50, 300);
const CHUNKS = sampled(1000, 6000);
/** Upper bound per connection. The average is half of it, so that many connections do not carry the whole stream. */
const MOST_BYTES = 9000;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

describe("a stream whose connection is cut at random bytes", () => {
  it.each([
    ["subscribes again", (id: string, _: object): Call => ({ method: "SubscribeToTask", params: { id } })],
    ["repeats its send", (_: string, params: object): Call => ({ method: "SendStreamingMessage", params })],
  ])("gives a client that %s every event exactly once, and starts one run", async (_, again) => {
    const server = await bench.serve([fixture("long-stream.ts"), "--store", "sqlite:tasks.db"]);
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    // The first connection must carry the first frame, which contains the task id.
    let least = 2000;
    const proxy: CuttingProxy = await CuttingProxy.start(server.url, () =>
      proxy.cuts < CUTS ? least + Math.floor(random() * MOST_BYTES) : Number.POSITIVE_INFINITY,
    );
    try {
      const params = sendParams(String(CHUNKS));
      const frames: Frame[] = [];
      let call: Call = { method: "SendStreamingMessage", params };
      while (!isFinished(frames)) {
        frames.push(...(await receive(proxy.url, call)));
        least = 1;
        const id = frames[0]?.result.task?.id ?? "";
        call = { ...again(id, params), after: frames.at(-1)?.id };
      }
      expect(proxy.cuts, `seed ${seed}`).toBe(CUTS);
      const events = eventsOf(frames);
      expect(
        events.map(({ id }) => id),
        `seed ${seed}`,
        // Besides the chunks: working, the empty chunk that closes the artifact, completed.
      ).toEqual(idsUpTo(CHUNKS + 3));

      const tasks = await must<{ tasks: Task[]; totalSize: number }>(server.url, "ListTasks", {});
      expect(tasks.totalSize).toBe(1);
      expect(bench.lines("starts")).toHaveLength(1);
      const { id } = tasks.tasks[0] ?? {};
      const undisturbed = await collect(server.url, { method: "SubscribeToTask", params: { id }, after: 0 });
      expect(textOf(events)).toBe(textOf(undisturbed));
    } finally {
      await proxy.close();
    }
  });
});

/** Returns the frames that arrive on one connection; possibly none. */
async function receive(url: string, call: Call): Promise<Frame[]> {
  const frames: Frame[] = [];
  try {
    const stream = await open(url, call);
    for await (const frame of stream.frames) frames.push(frame);
  } catch (error) {
    // The connection was cut before the response or inside its head.
    if (!(error instanceof Error && "code" in error)) throw error;
  }
  return frames;
}

function isFinished(frames: readonly Frame[]): boolean {
  return frames.at(-1)?.result.statusUpdate?.status.state === "TASK_STATE_COMPLETED";
}

/** Returns a generator of numbers from 0 to 1 that is deterministic for the seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
