import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { fixture, type Serving, until, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { Receiver } from "./receiver.ts";

/** Every second one before the response, the others right after it. */
const KILLS = sampled(2, 4);

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const serve = (): Promise<Serving> =>
  bench.serve([fixture("counting.ts"), "--store", "sqlite:tasks.db"], {
    env: { OUTGOING_HTTP: "1", OUTGOING_ALLOW: "loopback" },
  });

const send = async (server: Serving, webhook: string, events: number): Promise<Task> => {
  const configuration = { taskPushNotificationConfig: { url: webhook } };
  const params = sendParams(String(events), { configuration });
  return (await must<{ task: Task }>(server.url, "SendMessage", params)).task;
};

/** A short description of a notification. */
function summaryOf(body: string): string {
  const { statusUpdate, artifactUpdate } = JSON.parse(body);
  return statusUpdate?.status.state ?? artifactUpdate.artifact.parts[0].text;
}

/** The descriptions of all notifications of a task that writes `events` numbers. */
function expectedNotifications(events: number): string[] {
  const numbers = Array.from({ length: events }, (_, number) => `${number} `);
  return ["TASK_STATE_WORKING", ...numbers, "TASK_STATE_COMPLETED"];
}

describe("a server that is killed while it delivers webhooks", () => {
  it("loses no notification and keeps their order; a repeated notification has the same jti", async () => {
    const EVENTS = 40;
    const all = expectedNotifications(EVENTS);
    let server = await serve();
    let kills = 0;
    // Kills the server before the response, and right after it: before and after the server can store the delivery.
    const receiver = await Receiver.open((_, response) => {
      const { length } = receiver.received;
      if (kills < KILLS && length === 5 + kills * 9) {
        kills += 1;
        if (kills % 2 === 0) response.writeHead(200, { "content-length": 0 }).end();
        server.signal("SIGKILL");
        return kills % 2 === 0 ? undefined : "hang";
      }
      return undefined;
    });
    try {
      const task = await send(server, `${receiver.url}/hook`, EVENTS);
      for (let killed = 1; killed <= KILLS; killed++) {
        await server.ended;
        expect(kills).toBe(killed);
        server = await serve();
      }
      await until(() => receiver.received.some(({ body }) => summaryOf(body) === "TASK_STATE_COMPLETED"));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");

      const notifications = receiver.received.map(({ body, jti }) => ({ jti, summary: summaryOf(body) }));
      const firsts = notifications.filter(
        ({ jti }, index) => notifications.findIndex((other) => other.jti === jti) === index,
      );
      expect(firsts.map((each) => each.summary)).toEqual(all);
      // A repeated notification directly follows the first.
      for (const [index, { jti, summary }] of notifications.entries()) {
        const before = notifications.findIndex((other) => other.jti === jti);
        if (before === index) continue;
        expect(before).toBe(index - 1);
        expect(notifications[before]?.summary).toBe(summary);
      }
      expect(notifications.length - firsts.length).toBeLessThanOrEqual(KILLS);
      // Notifications that were not answered before the kill were certainly repeated.
      expect(notifications.length - firsts.length).toBeGreaterThanOrEqual(KILLS / 2);
    } finally {
      await receiver.close();
    }
  }, 60_000);

  it("delivers to many webhooks of many tasks, each its own events", async () => {
    const EVENTS = 10;
    const TASKS = 12;
    let server = await serve();
    const receiver = await Receiver.open(() => {
      if (receiver.received.length === 60) server.signal("SIGKILL");
    });
    try {
      const paths = Array.from({ length: TASKS }, (_, index) => `/hook/${index}`);
      // Some calls may fail when the server is killed; their tasks still notify the webhooks.
      await Promise.allSettled(paths.map((path) => send(server, receiver.url + path, EVENTS)));
      await server.ended;
      server = await serve();
      const of = (path: string) => receiver.received.filter((received) => received.path === path);
      const isNotified = (path: string) => of(path).some(({ body }) => summaryOf(body) === "TASK_STATE_COMPLETED");
      await until(() => paths.every(isNotified));
      for (const path of paths) {
        const notifications = of(path);
        const firsts = notifications.filter(
          ({ jti }, index) => notifications.findIndex((other) => other.jti === jti) === index,
        );
        expect(firsts.map(({ body }) => summaryOf(body))).toEqual(expectedNotifications(EVENTS));
      }
    } finally {
      await receiver.close();
    }
  }, 60_000);
});
