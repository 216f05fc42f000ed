import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { fixture, type Serving, until, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { Receiver } from "./receiver.ts";

const MB = 1024 * 1024;
const PENDING = sampled(800, 10_000);
/** In megabytes. */
const MOST_HELD = sampled(10, 20);

let bench: Workbench;
let hanging: Receiver;
beforeEach(async () => {
  bench = new Workbench();
  hanging = await Receiver.open(() => "hang");
});
afterEach(async () => {
  await bench.close();
  await hanging.close();
});

/** This flag limits the memory V8 uses for its young generation, so the figures show what the server keeps. */
const serve = (): Promise<Serving> =>
  bench.serveScript("server.ts", {
    env: {
      SETUP: JSON.stringify({
        modules: [fixture("counting.ts")],
        options: { outgoing: { http: true, allow: ["loopback"] }, push: { timeout: 600_000 } },
      }),
    },
    nodeFlags: ["--expose-gc", "--max-semi-space-size=16"],
  });

const memoryOf = async (server: Serving) => (await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage;

async function send(server: Serving, events: number, webhook?: string): Promise<Task> {
  const configuration = webhook === undefined ? {} : { taskPushNotificationConfig: { url: webhook } };
  return (await must<{ task: Task }>(server.url, "SendMessage", sendParams(String(events), { configuration }))).task;
}

async function sendMany(server: Serving, count: number, webhook?: string): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await send(server, 0, webhook);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

/** Warm up: memory that any delivery needs does not count as memory of pending deliveries. */
async function warmUp(server: Serving): Promise<void> {
  const prompt = await Receiver.open();
  await sendMany(server, 500, `${prompt.url}/hook`);
  await until(() => prompt.received.length === 1000);
  await prompt.close();
}

function expectLittle(before: NodeJS.MemoryUsage, after: NodeJS.MemoryUsage, what: string): void {
  const rss = (after.rss - before.rss) / MB;
  const held = (after.heapUsed + after.external - before.heapUsed - before.external) / MB;
  process.stdout.write(`${what}: RSS ${rss.toFixed(1)} MB, heap and external ${held.toFixed(1)} MB\n`);
  expect(rss).toBeLessThan(20);
  expect(held).toBeLessThan(MOST_HELD);
}

describe(`${PENDING} pending deliveries to a webhook that hangs`, () => {
  it("use less than 20 MB if all belong to one task", async () => {
    const server = await serve();
    await warmUp(server);
    // Warm up, so that the memory that this many events always need is allocated before the measurement.
    await send(server, PENDING);
    const before = await memoryOf(server);
    const task = await send(server, PENDING, `${hanging.url}/hook`);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    await until(() => hanging.received.length === 1);
    expectLittle(before, await memoryOf(server), `one task with ${PENDING} events to deliver`);
    expect(hanging.received).toHaveLength(1);
  }, 120_000);

  it(`use less than 20 MB if ${PENDING} tasks have one webhook each`, async () => {
    const server = await serve();
    await warmUp(server);
    await sendMany(server, PENDING);
    const before = await memoryOf(server);
    await sendMany(server, PENDING, `${hanging.url}/hook`);
    await until(() => hanging.received.length === 8);
    expectLittle(before, await memoryOf(server), `${PENDING} tasks with a webhook each`);
    // The limit of concurrent deliveries per origin.
    expect(hanging.received).toHaveLength(8);
    // Other webhooks and callers are served meanwhile.
    const prompt = await Receiver.open();
    await send(server, 1, `${prompt.url}/hook`);
    await until(() => prompt.received.length === 3);
    await prompt.close();
  }, 300_000);
});
