import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, createServer, type Server } from "../../src/index.ts";
import type { DeliveryRecord } from "../../src/server.ts";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { until } from "../e2e/workbench.ts";
import { type Behaviour, Receiver } from "./receiver.ts";

const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });

/** Webhooks may use only this address of the machine, so every other address counts as foreign. */
const ALLOWED = "127.0.0.2";

let closing: (() => Promise<void>)[];
let records: DeliveryRecord[];
beforeEach(() => {
  closing = [];
  records = [];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

async function receive(behave?: Behaviour, at: { host?: string; port?: number } = {}): Promise<Receiver> {
  const receiver = await Receiver.open(behave, { host: ALLOWED, ...at });
  closing.push(() => receiver.close());
  return receiver;
}

async function serve(lookup?: (name: string) => Promise<readonly string[]>): Promise<{ server: Server; url: string }> {
  const server = createServer(echo, {
    store: "memory:",
    port: 0,
    push: { timeout: 400, retries: 3, retryDelay: 5 },
    outgoing: { http: true, allow: [ALLOWED], ...(lookup !== undefined && { lookup }) },
    on: { delivery: (record) => void records.push(record) },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  closing.push(() => server.close());
  const { url } = await server.listen();
  return { server, url };
}

/** Sends a message with a webhook. Resolves when the task is finished. */
async function notify(url: string, webhook: string): Promise<Task> {
  const configuration = { taskPushNotificationConfig: { url: webhook, token: "t" } };
  return (await must<{ task: Task }>(url, "SendMessage", sendParams("hello", { configuration }))).task;
}

const of = (task: Task) => records.filter(({ taskId }) => taskId === task.id);
const outcomesOf = (task: Task) => of(task).map(({ outcome }) => outcome);

async function webhooksOf(url: string, task: Task): Promise<readonly object[]> {
  const { configs } = await must<{ configs?: object[] }>(url, "ListTaskPushNotificationConfigs", { taskId: task.id });
  return configs ?? [];
}

describe("A webhook", () => {
  it("that fails twice is notified at the third attempt, and then of the rest, in order", async () => {
    let failures = 0;
    const receiver = await receive((_, response) => {
      if (failures++ < 2) response.writeHead(503).end();
    });
    const { url, server } = await serve();
    const task = await notify(url, `${receiver.url}/hook`);
    await until(() => outcomesOf(task).length === 5);
    expect(outcomesOf(task)).toEqual(["retried", "retried", "delivered", "delivered", "delivered"]);
    const bodies = receiver.received.map(({ body }) => body);
    expect(new Set(bodies.slice(0, 3)).size).toBe(1);
    expect(new Set(receiver.received.slice(0, 3).map(({ jti }) => jti)).size).toBe(1);
    expect(new Set(receiver.received.map(({ jti }) => jti)).size).toBe(3);
    expect(bodies.slice(2).map((body) => Object.keys(JSON.parse(body))[0])).toEqual([
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(await server.deadLetters()).toEqual([]);
  });

  it("that hangs is abandoned after one attempt and three retries, delays nothing, and is kept as a dead letter", async () => {
    let mayAnswer = false;
    const receiver = await receive(() => (mayAnswer ? undefined : "hang"));
    const { url, server } = await serve();
    const task = await notify(url, `${receiver.url}/hook?secret=1`);
    // The task was answered while its webhook hung.
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    await until(async () => (await server.deadLetters()).length === 1);
    expect(outcomesOf(task)).toEqual(["retried", "retried", "retried", "given-up"]);
    const [letter] = await server.deadLetters({ taskId: task.id });
    expect(letter).toMatchObject({
      taskId: task.id,
      agent: "echo",
      tenant: "",
      url: `${receiver.url}/hook`,
      outcome: "given-up",
      reason: "no answer within 400 ms",
      seq: 1,
      attempts: 4,
    });
    // The caller still sees the webhook, and the operator can redeliver.
    expect(await webhooksOf(url, task)).toHaveLength(1);
    mayAnswer = true;
    if (letter !== undefined) await server.redeliver(letter);
    await until(() => outcomesOf(task).length === 7);
    expect(outcomesOf(task).slice(4)).toEqual(["delivered", "delivered", "delivered"]);
    expect(await server.deadLetters()).toEqual([]);
  });

  it.each(["http://169.254.169.254/latest/meta-data", "http://[::ffff:169.254.169.254]/"])(
    "that redirects to %s is refused at once",
    async (location) => {
      const receiver = await receive((_, response) => void response.writeHead(307, { location }).end());
      const { url, server } = await serve();
      const task = await notify(url, `${receiver.url}/hook`);
      await until(async () => (await server.deadLetters()).length === 1);
      expect(outcomesOf(task)).toEqual(["refused"]);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it("whose name resolves to 127.0.0.1 at the second lookup is refused, and no request reaches that address", async () => {
    const honest = await receive((_, response) => void response.writeHead(503, { connection: "close" }).end());
    // The same port, otherwise the second connection would fail for another reason.
    const victim = await receive(undefined, { host: "127.0.0.1", port: honest.port });
    const asked: string[] = [];
    const { url, server } = await serve(async (name) => {
      asked.push(name);
      return asked.length === 1 ? [ALLOWED] : ["127.0.0.1"];
    });
    const task = await notify(url, `http://hooks.example.com:${honest.port}/hook`);
    await until(async () => (await server.deadLetters()).length === 1);
    expect(outcomesOf(task)).toEqual(["retried", "refused"]);
    expect(asked).toEqual(["hooks.example.com", "hooks.example.com"]);
    expect(honest.received).toHaveLength(1);
    expect(victim.received).toHaveLength(0);
  });

  it("that answers 410 is deleted and not notified again", async () => {
    const receiver = await receive((_, response) => void response.writeHead(410).end());
    const { url, server } = await serve();
    const task = await notify(url, `${receiver.url}/hook`);
    await until(async () => (await server.deadLetters()).length === 1);
    expect(outcomesOf(task)).toEqual(["dropped"]);
    expect(receiver.received).toHaveLength(1);
    expect(await webhooksOf(url, task)).toEqual([]);
  });
});
