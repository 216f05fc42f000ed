import { type ClientHttp2Stream, connect } from "node:http2";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { fixture, type Serving, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { SERVICE_1_0 } from "./call.ts";
import { framed, text } from "./protobuf.ts";

const MB = 1024 * 1024;
const STREAMED = sampled(6, 200);
/** Far below what the stalled readers would hold if the server wrote to them without waiting. */
const MAX_HELD = sampled(5, 10);
const WARM_UP = sampled(5, 20);

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const memoryOf = async (server: Serving) => (await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage;

/** Starts a task that streams that many megabytes once its gate opens. */
async function prepare(server: Serving, name: string, megabytes: number): Promise<string> {
  const params = sendParams(`${name} ${megabytes}`, { configuration: { returnImmediately: true } });
  return (await must<{ task: Task }>(server.url, "SendMessage", params)).task.id;
}

describe("The memory of a server", () => {
  it(`grows by less than 30 MB, and holds less than ${MAX_HELD} MB, for gRPC readers that stop reading ${STREAMED} MB, and another stream on their connection is not blocked`, async () => {
    const setup = { modules: [fixture("firehose.ts")], options: { limits: { maxTaskBytes: 300 * MB } } };
    const server = await bench.serveScript("server.ts", {
      env: { SETUP: JSON.stringify(setup) },
      nodeFlags: ["--expose-gc", "--max-semi-space-size=16"],
    });
    const session = connect(server.url);
    const subscribe = (id: string): ClientHttp2Stream => {
      const stream = session.request(
        {
          ":method": "POST",
          ":path": `/${SERVICE_1_0}/SubscribeToTask`,
          "content-type": "application/grpc",
          te: "trailers",
        },
        { endStream: false },
      );
      stream.on("error", () => undefined);
      stream.end(framed(text(2, id)));
      return stream;
    };
    const readAll = async (stream: ClientHttp2Stream): Promise<number> => {
      let bytes = 0;
      for await (const chunk of stream) bytes += chunk.length;
      return bytes;
    };
    const warm = await prepare(server, "warm", WARM_UP);
    const warming = readAll(subscribe(warm));
    bench.openGate("warm");
    await warming;
    const before = await memoryOf(server);
    const id = await prepare(server, "flood", STREAMED);
    const stalled = [1, 2, 3, 4].map(() => subscribe(id));
    const reading = [1, 2].map(() => readAll(subscribe(id)));
    bench.openGate("flood");
    expect(Math.min(...(await Promise.all(reading)))).toBeGreaterThan(STREAMED * MB);
    const after = await memoryOf(server);
    const growthOf = (...kinds: readonly (keyof NodeJS.MemoryUsage)[]): number =>
      kinds.reduce((sum, kind) => sum + after[kind] - before[kind], 0) / MB;
    const held = growthOf("heapUsed", "external");
    const rss = growthOf("rss");
    process.stdout.write(
      `four stalled gRPC readers, ${STREAMED} MB streamed: ${held.toFixed(1)} MB held, RSS ${rss.toFixed(1)} MB\n`,
    );
    expect(held).toBeLessThan(MAX_HELD);
    expect(rss).toBeLessThan(30);
    expect(stalled.every((stream) => !stream.closed)).toBe(true);
    session.destroy();
  }, 900_000);
});
