import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimsOf, Receiver } from "../push/receiver.ts";
import { must, sendParams, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

const HOURS = 60 * 60 * 1000;
/** Milliseconds for several lease renewals. At each renewal the engine compares its clock with the store's. */
const SOME_RENEWALS = 2500;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const serve = (push: object = {}): Promise<Serving> =>
  bench.serveScript("server.ts", {
    nodeFlags: ["--import", fixture("set-clock.ts")],
    env: {
      SETUP: JSON.stringify({
        modules: [fixture("timed-tasks.ts")],
        options: { lease: 4000, push, outgoing: { http: true, allow: ["loopback"] } },
      }),
    },
  });

const setClock = (offset: number): void => writeFileSync(bench.path("clock-offset"), String(offset));

const begin = async ({ url }: Serving, text: string, webhook?: string): Promise<string> => {
  const push = webhook === undefined ? {} : { taskPushNotificationConfig: { url: webhook } };
  const params = sendParams(text, { configuration: { returnImmediately: true, ...push } });
  return (await must<{ task: Task }>(url, "SendMessage", params)).task.id;
};

const stateOf = async ({ url }: Serving, id: string): Promise<string> =>
  (await must<Task>(url, "GetTask", { id })).status.state;

describe.each([
  ["forward", 2 * HOURS],
  ["back", -2 * HOURS],
])("while the system clock is set %s by two hours", (_, offset) => {
  it("tasks keep their time limits, sleeps last as long as requested, and a webhook is retried on time, with the new time in its signature", async () => {
    const receiver = await Receiver.open(({ path }, response) => {
      if (path === "/hook" && receiver.received.length === 1) response.writeHead(503, { "content-length": 0 }).end();
    });
    try {
      const first = await serve();
      const stored = await begin(first, "sleep 6000");
      await until(async () => (await stateOf(first, stored)) === "TASK_STATE_WORKING");
      const asleepSince = performance.now();
      await first.kill("SIGKILL");
      // The first sleep is stored, so this process starts its run only when the sleep is over.
      const server = await serve({ retries: 2, retryDelay: 3000 });
      const working = await begin(server, "work");
      const sleeping = await begin(server, "sleep 5000");
      await until(async () => (await stateOf(server, sleeping)) === "TASK_STATE_WORKING");
      await begin(server, "sleep 1", `${receiver.url}/hook`);
      await until(() => receiver.received.length === 1);
      const refusedAt = performance.now();
      setClock(offset);
      await sleep(SOME_RENEWALS);
      expect(await stateOf(server, working)).toBe("TASK_STATE_WORKING");
      await until(() => receiver.received.length > 1);
      expect(performance.now() - refusedAt).toBeGreaterThanOrEqual(2900);
      const token = String(receiver.received[1]?.headers["x-a2a-notification-signature"]);
      expect(Math.abs(Number(claimsOf(token)["iat"]) * 1000 - (Date.now() + offset))).toBeLessThan(HOURS);
      await until(async () => (await stateOf(server, stored)) === "TASK_STATE_COMPLETED");
      expect(performance.now() - asleepSince).toBeGreaterThanOrEqual(5000);
      await until(async () => (await stateOf(server, sleeping)) === "TASK_STATE_COMPLETED");
      // The engine's clock follows the clock of the store by at most 1 %.
      const [, slept] =
        bench
          .lines("slept")
          .find((line) => line.startsWith("5000 "))
          ?.split(" ") ?? [];
      expect(Number(slept)).toBeGreaterThanOrEqual(4950);
      bench.openGate("finish");
      await until(async () => (await stateOf(server, working)) === "TASK_STATE_COMPLETED");
    } finally {
      await receiver.close();
    }
  }, 60_000);
});

describe("a server that starts after the clock was set forward by two hours", () => {
  it("fails a task whose time limit has passed, and wakes a sleeping task", async () => {
    const first = await serve();
    const working = await begin(first, "work");
    const sleeping = await begin(first, "sleep 3600000");
    await until(async () => (await stateOf(first, sleeping)) === "TASK_STATE_WORKING");
    await first.kill("SIGKILL");
    setClock(2 * HOURS);
    const second = await serve();
    await until(async () => (await stateOf(second, sleeping)) === "TASK_STATE_COMPLETED");
    await until(async () => (await stateOf(second, working)) === "TASK_STATE_FAILED");
    const { status } = await must<Task>(second.url, "GetTask", { id: working });
    expect(status.message?.parts).toEqual([{ text: "Task timed out" }]);
  }, 30_000);
});
