import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { fixture, type Serving, until, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { Receiver } from "./receiver.ts";

const MB = 1024 * 1024;
const PENDING = sampled(400, 10_000);
const WARM_UP = sampled(200, 500);
/** In megabytes. */
const MOST_HELD = sampled(6, 20);

let bench: Workbench;
let server: Serving;
const receivers: Receiver[] = [];
beforeAll(async () => {
  bench = new Workbench();
  server = await serve();
  await warmUp();
}, 120_000);
afterAll(async () => {
  await bench.close();
  for (const receiver of receivers) await receiver.close();
});

/** A webhook of its own for each test: the server limits the deliveries per origin. */
async function openHanging(): Promise<Receiver> {
  const hanging = await Receiver.open(() => "hang");
  receivers.push(hanging);
  return hanging;
}

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

const memory = async () => (await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage;

async function send(events: number, webhook?: string): Promise<Task> {
  const configuration = webhook === undefined ? {} : { taskPushNotificationConfig: { url: webhook } };
  return (await must<{ task: Task }>(server.url, "SendMessage", sendParams(String(events), { configuration }))).task;
}

async function sendMany(count: number, webhook?: string): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await send(0, webhook);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

/** Warm up: memory that any delivery needs does not count as memory of pending deliveries. */
async function warmUp(): Promise<void> {
  const prompt = await Receiver.open();
  await sendMany(WARM_UP, `${prompt.url}/hook`);
  await until(() => prompt.received.length === 2 * WARM_UP);
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
    const hanging = await openHanging();
    // Warm up, so that the memory that this many events always need is allocated before the measurement.
    await send(PENDING);
    const before = await memory();
    const task = await send(PENDING, `${hanging.url}/hook`);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    await until(() => hanging.received.length === 1);
    expectLittle(before, await memory(), `one task with ${PENDING} events to deliver`);
    expect(hanging.received).toHaveLength(1);
  }, 120_000);

  it(`use less than 20 MB if ${PENDING} tasks have one webhook each`, async () => {
    const hanging = await openHanging();
    await sendMany(PENDING);
    const before = await memory();
    await sendMany(PENDING, `${hanging.url}/hook`);
    await until(() => hanging.received.length === 8);
    expectLittle(before, await memory(), `${PENDING} tasks with a webhook each`);
    // The limit of concurrent deliveries per origin.
    expect(hanging.received).toHaveLength(8);
    // Other webhooks and callers are served meanwhile.
    const prompt = await Receiver.open();
    await send(1, `${prompt.url}/hook`);
    await until(() => prompt.received.length === 3);
    await prompt.close();
  }, 300_000);
});
