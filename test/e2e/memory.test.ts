import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampled } from "../fixtures/budget.ts";
import { type Answer, ask, must, sendParams, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

const MB = 1024 * 1024;
const KB = 1024;
const STREAMED = sampled(12, 200);
const HUGE = sampled(32, 200);
const WARM_UP = sampled(12, 20);
const SUBSCRIBERS = sampled(300, 2000);

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

/**
 * After fast streaming, V8 keeps tens of MB for its young generation. This flag limits that memory, so the figures show
 * what the server itself uses.
 */
const serve = (options: object = {}) =>
  bench.serveScript("server.ts", {
    env: { SETUP: JSON.stringify({ modules: [fixture("firehose.ts")], options }) },
    nodeFlags: ["--expose-gc", "--max-semi-space-size=16"],
  });

const memoryOf = async (server: Serving) => (await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage;

/** Starts a task that streams that many megabytes once its gate opens. */
async function prepare(server: Serving, name: string, megabytes: number): Promise<string> {
  const params = sendParams(`${name} ${megabytes}`, { configuration: { returnImmediately: true } });
  return (await must<{ task: Task }>(server.url, "SendMessage", params)).task.id;
}

/** Streams that many megabytes to an active reader and returns the number of bytes received. */
async function stream(server: Serving, name: string, megabytes: number): Promise<number> {
  const id = await prepare(server, name, megabytes);
  const reading = readToEnd(server.url, id);
  bench.openGate(name);
  return reading;
}

describe("the memory of a server", () => {
  it(`grows by less than 30 MB for readers that never read while others are streamed ${STREAMED} MB`, async () => {
    const server = await serve({ limits: { maxTaskBytes: 300 * MB } });
    // Warm up, so that the memory which streaming always needs is allocated before the measurement.
    await stream(server, "warm", WARM_UP);
    const before = await memoryOf(server);
    const id = await prepare(server, "flood", STREAMED);
    const stalled = await Promise.all([1, 2, 3, 4].map(() => neverRead(server.url, id)));
    const reading = [1, 2].map(() => readToEnd(server.url, id));
    bench.openGate("flood");
    expect(Math.min(...(await Promise.all(reading)))).toBeGreaterThan(STREAMED * MB);
    const after = await memoryOf(server);
    const rss = (after.rss - before.rss) / MB;
    const held = (after.heapUsed + after.external - before.heapUsed - before.external) / MB;
    report(
      `four stalled readers, ${STREAMED} MB streamed`,
      `RSS ${rss.toFixed(1)} MB, heap and external ${held.toFixed(1)} MB`,
    );
    expect(rss).toBeLessThan(30);
    expect(held).toBeLessThan(10);
    expect(stalled.every((socket) => socket.readyState === "open")).toBe(true);
    for (const socket of stalled) socket.destroy();
  }, 120_000);

  it("grows by less than 15 KB for an idle subscriber", async () => {
    const server = await serve();
    const subscribers = SUBSCRIBERS;
    const tasks = await Promise.all(Array.from({ length: 20 }, () => prepare(server, "never", 1)));
    const subscribe = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => follow(server.url, tasks[index % tasks.length] ?? "")));
    const first = await subscribe(100);
    const before = await memoryOf(server);
    const open = await subscribe(subscribers);
    const after = await memoryOf(server);
    const each = (after.heapUsed + after.external - before.heapUsed - before.external) / subscribers / KB;
    report("heap and external memory of an idle subscriber", `${each.toFixed(1)} KB`);
    expect(each).toBeLessThan(15);
    for (const response of [...first, ...open]) response.destroy();
    // The memory is released after the subscribers have disconnected.
    await until(async () => {
      const left = await memoryOf(server);
      return left.heapUsed + left.external < before.heapUsed + before.external + subscribers * KB;
    });
  }, 60_000);

  it(`grows by less than three quarters of a task of ${HUGE} MB, if such tasks are allowed`, async () => {
    const server = await serve({ limits: { maxTaskBytes: 300 * MB } });
    await stream(server, "warm", WARM_UP);
    const before = await memoryOf(server);
    expect(await stream(server, "huge", HUGE)).toBeGreaterThan(HUGE * MB);
    const growth = ((await memoryOf(server)).rss - before.rss) / MB;
    report(`RSS for one task of ${HUGE} MB`, `${growth.toFixed(1)} MB`);
    expect(growth).toBeLessThan(HUGE * 0.75);
  }, 120_000);

  it("does not grow for a task over the size limit: the task fails, and other tasks continue", async () => {
    const server = await serve({ limits: { maxTaskBytes: 4 * MB } });
    const [greedy, modest] = await Promise.all([prepare(server, "both", 10), prepare(server, "both", 3)]);
    bench.openGate("both");
    const answers: Answer<Task>[] = [];
    for (const id of [greedy, modest]) {
      await until(async () => {
        const answer = await ask<Task>(server.url, "GetTask", { id, historyLength: 0 });
        const over = /COMPLETED|FAILED/.test(answer.result?.status.state ?? "");
        if (over) answers.push(answer);
        return over;
      });
    }
    expect(answers[0]?.result?.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: {
        parts: [
          { text: `Limit exceeded: the events of a task may have at most ${4 * MB} bytes in total (maxTaskBytes).` },
        ],
      },
    });
    expect(bench.lines("refusals")).toEqual(["task-too-large"]);
    expect(answers[0]?.body.length).toBeLessThan(5 * MB);
    expect(answers[1]?.result?.status.state).toBe("TASK_STATE_COMPLETED");
    expect(answers[1]?.body.length).toBeGreaterThan(3 * MB);
  });
});

/** Prints the figure, also when the test passes. */
function report(what: string, figure: string): void {
  process.stdout.write(`${what}: ${figure}\n`);
}

function subscription(id: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } });
}

/** Reads a task's stream to its end at full speed and returns the number of bytes. */
async function readToEnd(url: string, id: string): Promise<number> {
  const response = await follow(url, id);
  let bytes = 0;
  let tail = "";
  for await (const read of response) {
    const chunk: Buffer = read;
    bytes += chunk.length;
    tail = (tail + chunk.subarray(-200).toString("latin1")).slice(-400);
  }
  expect(tail).toContain("TASK_STATE_COMPLETED");
  return bytes;
}

/** Opens a stream without reading it. */
function follow(url: string, id: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    request(url, { method: "POST", agent: false, headers }, resolve).on("error", reject).end(subscription(id));
  });
}

/** Subscribes and never reads from its socket. */
async function neverRead(url: string, id: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on("error", () => {});
  const body = subscription(id);
  await new Promise<void>((resolve) => {
    socket.write(
      `POST / HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      () => resolve(),
    );
  });
  return socket;
}
