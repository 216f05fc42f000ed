import type { DeliveryRecord } from "palaver/server";
import { expect, it } from "vitest";
import { openInbox } from "../../conformance/inbox.ts";
import { nobody } from "../../conformance/test-server.ts";
import { until } from "../../e2e/workbench.ts";
import { at, post } from "../exchange.ts";
import { TIME } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, getTask, sendTask, taskParams } from "./tasks.ts";

const HOOK = "https://client.example.com/hook";

const setHook = (id: string, pushNotificationConfig: object): object =>
  rpcRequest(1, "tasks/pushNotification/set", { id, pushNotificationConfig });
const getHook = (id: string): object => rpcRequest(2, "tasks/pushNotification/get", { id });

it(
  seed.example(
    "5.1 tasks/pushNotification/set",
    "a webhook is stored with its token, which responses mask, and with its event types; its URL must be HTTPS",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => task.ask("And?"), {}, { outgoing: { lookup: nobody } });
    await sendTask(testServer.url, taskParams("task-1", "Hello"));
    const config = { url: HOOK, token: "secret-token", events: ["status", "artifact"] };
    const answer = await post(testServer.url, setHook("task-1", config));
    expect(resultOf(answer, 1)).toEqual({ id: "task-1", pushNotificationConfig: { ...config, token: "***" } });
    expect(answer.text).not.toContain("secret-token");
    const plain = errorOf(await post(testServer.url, setHook("task-1", { url: "http://client.example.com/hook" })), 1);
    expect([at(plain, "code"), at(plain, "data.violations.0.field")]).toEqual([-32602, "pushNotificationConfig.url"]);
    expect(errorOf(await post(testServer.url, setHook("task-9", config)), 1)).toMatchObject({ code: -32001 });
  },
);

it(
  seed.example(
    "5.1 tasks/pushNotification/set › not supported",
    "an agent without notifications answers with the official error code",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done", { capabilities: { pushNotifications: false } });
    const config = { url: HOOK, events: ["status", "artifact"] };
    expect(errorOf(await post(testServer.url, setHook("task-1", config)), 1)).toMatchObject({ code: -32003 });
    const inline = taskParams("task-1", "Hello", { pushNotification: config });
    expect(errorOf(await post(testServer.url, rpcRequest(1, "tasks/send", inline)), 1)).toMatchObject({ code: -32003 });
  },
);

it(
  seed.example(
    "5.2 Webhook callbacks",
    "each change is posted as the task, with taskId, eventType, status and timestamp, and with the token as Bearer",
  ),
  async () => {
    await using inbox = await openInbox();
    await using testServer = await serveScript(async (task) => `You said ${await task.ask("What?")}`);
    const pushNotification = { url: inbox.url(), token: "secret-token", events: ["status", "artifact"] };
    await sendTask(testServer.url, taskParams("task-1", "Hello", { pushNotification }));
    await inbox.until(({ body }) => body.includes('"input-required"'));
    await sendTask(testServer.url, taskParams("task-1", "this"));
    await inbox.until(({ body }) => body.includes('"completed"'));
    for (const { headers, body } of inbox.received) {
      expect(headers).toMatchObject({
        "content-type": "application/json",
        authorization: "Bearer secret-token",
        "x-a2a-notification-token": "secret-token",
      });
      expect(JSON.parse(body)).toMatchObject({
        taskId: "task-1",
        eventType: expect.stringMatching(/^(status|artifact)$/),
        status: { state: expect.any(String), timestamp: TIME },
        timestamp: TIME,
      });
    }
    const states = inbox.received.map(({ body }) => at(JSON.parse(body), "status.state"));
    expect(states.filter((state, index) => state !== states[index - 1])).toEqual([
      "working",
      "input-required",
      "working",
      "completed",
    ]);
  },
);

it(seed.example("5.3 Retries", "a failed delivery is retried three times, with growing pauses"), async () => {
  await using inbox = await openInbox((_, response) => {
    if (inbox.received.length < 4) response.writeHead(503).end();
  });
  const records: DeliveryRecord[] = [];
  const on = { delivery: (record: DeliveryRecord) => void records.push(record) };
  await using testServer = await serveScript(async () => "done", {}, { on });
  await sendTask(testServer.url, taskParams("task-1", "Hello", { pushNotification: { url: inbox.url() } }));
  await inbox.until(({ body }) => body.includes('"completed"'));
  expect(records.slice(0, 4).map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
    ["retried", 1],
    ["retried", 2],
    ["retried", 3],
    ["delivered", 4],
  ]);
  expect(new Set(inbox.received.slice(0, 4).map(({ body }) => body)).size).toBe(1);
});

it(seed.example("5.4 tasks/pushNotification/get", "returns the task's webhook, or null"), async () => {
  await using testServer = await serveScript(async (task) => task.ask("And?"));
  await sendTask(testServer.url, taskParams("task-1", "Hello"));
  const none = { id: "task-1", pushNotificationConfig: null };
  expect(resultOf(await post(testServer.url, getHook("task-1")), 2)).toEqual(none);
  for (const url of [HOOK, `${HOOK}/2`]) resultOf(await post(testServer.url, setHook("task-1", { url })), 1);
  const latest = { id: "task-1", pushNotificationConfig: { url: `${HOOK}/2` } };
  expect(resultOf(await post(testServer.url, getHook("task-1")), 2)).toEqual(latest);
  expect(errorOf(await post(testServer.url, getHook("task-9")), 2)).toMatchObject({ code: -32001 });
});

it(
  seed.example(
    "5 On failure",
    "an unreachable webhook does not affect the task, is logged, and is removed after the last retry",
  ),
  async () => {
    await using inbox = await openInbox((_, response) => void response.destroy());
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    await using testServer = await serveScript(async () => "done", {}, { logger });
    await sendTask(testServer.url, taskParams("task-1", "Hello", { pushNotification: { url: inbox.url() } }));
    expect(at(await endedTask(testServer.url, "task-1"), "status.state")).toBe("completed");
    await until(async () => (await testServer.server.deadLetters()).length === 1);
    expect(resultOf(await post(testServer.url, getHook("task-1")), 2)).toMatchObject({ pushNotificationConfig: null });
    expect(inbox.received).toHaveLength(4);
    expect(warnings).toEqual(["A webhook delivery failed for good"]);
    expect(at(await getTask(testServer.url, "task-1"), "status.state")).toBe("completed");
  },
);
