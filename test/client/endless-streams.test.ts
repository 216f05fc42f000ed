import { execFile } from "node:child_process";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "palaver/client";
import { afterEach, describe, expect, it } from "vitest";
import { sampled } from "../fixtures/budget.ts";
import {
  events,
  frame,
  json,
  type ReceivedRequest,
  rpc,
  ScriptedServer,
  statusUpdate,
  wireTask,
} from "./lying-server.ts";

const READER = join(import.meta.dirname, "../fixtures/stream-reader.ts");
const MB = 1024 * 1024;
/** Number of characters per write of the server. */
const BATCH = 64 * 1024;
const run = promisify(execFile);

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** The output of the reader. Memory in MB, processor time in ms. */
interface Reading {
  readonly events: number;
  readonly afterAbort: number;
  readonly characters: number;
  readonly code: string;
  readonly result: string;
  readonly cpu: number;
  readonly rss: number;
}

interface Plan {
  /** The artifact id of event number `index`. */
  readonly artifact: (index: number) => string;
  readonly append: boolean;
  readonly text: string;
  readonly count: number;
}

interface ReaderOptions {
  readonly result?: "all" | "none";
  readonly abortAfter?: number;
  /** Heap size in MB. Default {@link HEAP}. */
  readonly heap?: number;
}

/** Resolves when the response accepts more data or is closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Starts a server that sends as fast as the reader reads. */
async function serve({ artifact, append, text, count }: Plan): Promise<ScriptedServer> {
  return ScriptedServer.start(async (response, request) => {
    events(response);
    let batch = frame(request, { task: wireTask("WORKING") });
    for (let index = 0; index < count && !response.destroyed; index++) {
      const made = { artifactId: artifact(index), parts: [{ text }] };
      batch += frame(request, { artifactUpdate: { taskId: "t1", contextId: "c1", artifact: made, append } });
      if (batch.length < BATCH) continue;
      const isFull = !response.write(batch);
      batch = "";
      if (isFull) await drained(response);
    }
    response.end(batch + frame(request, statusUpdate("COMPLETED")));
  });
}

/** Reads the stream in its own process. */
async function read(plan: Plan, { abortAfter, heap = HEAP, ...options }: ReaderOptions = {}): Promise<Reading> {
  server = await serve(plan);
  const setup = JSON.stringify({
    card: server.card(),
    client: { maxResultBytes: MAX_RESULT * MB },
    options,
    abortAfter,
  });
  const { stdout } = await run(process.execPath, [`--max-old-space-size=${heap}`, READER], {
    env: { ...process.env, READER: setup, NODE_OPTIONS: "" },
  });
  const reading = JSON.parse(stdout) as Reading;
  console.log(JSON.stringify({ ...plan, text: plan.text.length, artifact: undefined, ...options }), stdout.trim());
  await server.close();
  server = undefined;
  return reading;
}

/** Megabytes of the reader's heap, and of the results that it may keep in it. */
const HEAP = sampled(32, 64);
const MAX_RESULT = sampled(10, 32);
/** Megabytes of text in one stream: more than the reader's heap. */
const SIZE = sampled(36, 300);
/** Artifacts in one stream: enough for the processor time per artifact to exceed that of the start. */
const ARTIFACTS = sampled(10_000, 40_000);

describe(`a reader that keeps no events and has a heap of ${HEAP} MB`, () => {
  it.each<[string, Plan, ReaderOptions]>([
    [`${SIZE} MB of chunks`, { artifact: () => "a", append: true, text: "x".repeat(64 * 1024), count: SIZE * 16 }, {}],
    [
      `${SIZE} MB of chunks, with result none`,
      { artifact: () => "a", append: true, text: "x".repeat(64 * 1024), count: SIZE * 16 },
      { result: "none" },
    ],
    ["small chunks", { artifact: () => "a", append: true, text: "x".repeat(256), count: SIZE * 330 }, {}],
    [`${SIZE} MB of artifacts`, { artifact: String, append: false, text: "x".repeat(5 * 1024), count: SIZE * 200 }, {}],
    [`${SIZE} MB of replaced artifacts`, { artifact: () => "a", append: false, text: "x".repeat(MB), count: SIZE }, {}],
  ])(
    "reads %s",
    async (_what, plan, options) => {
      const reading = await read(plan, options);
      expect(reading).toMatchObject({ events: plan.count + 2, characters: plan.count * plan.text.length, code: "" });
      expect(reading.rss).toBeLessThan(400);
    },
    120_000,
  );

  it("receives the task if it is small enough, and otherwise an error with a code", async () => {
    const small = { artifact: String, append: false, text: "x", count: 3 };
    expect(await read(small)).toMatchObject({ result: "3" });
    expect(await read(small, { result: "none" })).toMatchObject({ result: "none" });
    const large = { artifact: () => "a", append: true, text: "x".repeat(MB), count: MAX_RESULT + 8 };
    expect(await read(large)).toMatchObject({ code: "", result: "result-too-large" });
  }, 60_000);

  it("takes about twice the processor time for twice the artifacts", async () => {
    const plan = (count: number): Plan => ({ artifact: String, append: false, text: "x".repeat(20), count });
    // A large heap, so that garbage collection does not affect the measurement.
    const single = await read(plan(ARTIFACTS), { heap: 1024 });
    const double = await read(plan(2 * ARTIFACTS), { heap: 1024 });
    expect(double.cpu / single.cpu).toBeLessThan(2.6);
  }, 60_000);

  it("receives no event after it aborted, although thousands have arrived", async () => {
    const plan = { artifact: String, append: false, text: "x", count: sampled(10_000, 38_000) };
    expect(await read(plan, { abortAfter: 10 })).toMatchObject({ events: 10, afterAbort: 0, code: "aborted" });
  }, 60_000);
});

/** A response whose next event is always available without waiting. */
function endless(line: string): typeof fetch {
  const bytes = new TextEncoder().encode(line.repeat(10));
  return async () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(bytes) }), {
      headers: { "content-type": "text/event-stream" },
    });
}

describe("a stream whose next event is always available", () => {
  const card = {
    name: "A",
    version: "1",
    description: "",
    skills: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    capabilities: { streaming: true },
    interfaces: [{ url: "https://a.example/", binding: "JSONRPC", protocolVersion: "1.0" }],
  };
  const update = { taskId: "t1", contextId: "c1", artifact: { artifactId: "a", parts: [{ text: "x" }] }, append: true };
  const chunk = `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { artifactUpdate: update } })}\n\n`;

  it("lets timers run, so that a timer can abort it", async () => {
    const agent = await connect(card, { fetch: endless(chunk) });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 0);
    let count = 0;
    const reading = (async () => {
      for await (const _event of agent.stream("go", { signal: stop.signal })) if (++count > 200_000) break;
    })();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
  });

  it("lets timers run if it contains only comments", async () => {
    const agent = await connect(card, { fetch: endless(": alive\n\n") });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 0);
    await expect(agent.stream("go", { signal: stop.signal }).result()).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a card with 4 000 interfaces", () => {
  it("makes the client send requests to 8 of them at most", async () => {
    const received: ReceivedRequest[] = [];
    server = await ScriptedServer.start((response, request) => {
      received.push(request);
      response.writeHead(404).end();
    });
    const { url } = server;
    const interfaces = Array.from({ length: 4000 }, (_, index) => ({
      url: `${url}/${index}`,
      binding: "JSONRPC",
      protocolVersion: "1.0",
    }));
    const agent = await connect(server.card({ interfaces }), { retry: { attempts: 1 } });
    await expect(agent.send("go")).rejects.toMatchObject({ code: "invalid-agent-response" });
    expect(new Set(received.map((request) => request.url)).size).toBe(8);
    expect(received).toHaveLength(8);
  });
});

describe("a list of webhooks", () => {
  it("that is huge or never ends is refused with an error code", async () => {
    const configs = Array.from({ length: 150_000 }, () => ({ id: "p", url: "https://h.example/" }));
    server = await ScriptedServer.start((response, request) =>
      json(response, rpc(request, { configs, nextPageToken: "x" })),
    );
    const agent = await connect(server.card());
    await expect(agent.task("t").push.list()).rejects.toMatchObject({ code: "invalid-agent-response" });
  });
});
