import { createWebhookVerifier, verifyWebhook } from "palaver/webhook";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { openInbox } from "../../conformance/inbox.ts";
import { at, get, post, textAt } from "../exchange.ts";
import { idsOf, textPart, userMessage } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const HOOK = "https://client.example.com/webhook/a2a-notifications";
const FULL = {
  url: HOOK,
  token: "secure-client-token-for-task-aaa",
  authentication: { schemes: ["Bearer"], credentials: "secret" },
};
/** The webhook in responses. */
const SHOWN = { ...FULL, token: "***", authentication: { schemes: ["Bearer"], credentials: "***" } };

/** Calls one of the webhook methods. */
const hooks = ({ url }: TestServer, operation: string, params: object) =>
  post(url, rpcRequest(7, `tasks/pushNotificationConfig/${operation}`, params));

/** Runs the test with a task that waits for an answer. */
async function withTask(
  work: (testServer: TestServer, taskId: string, version: string) => Promise<void>,
): Promise<void> {
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(async (task) => task.ask("And?"), {}, options);
    const sent = await post(testServer.url, rpcRequest(1, "message/send", { message: userMessage("Hello") }));
    await work(testServer, idsOf(resultOf(sent, 1)).taskId, options.assumeVersion ?? "0.3");
  }
}

it(seed.example("5.6. Sample Agent Card › pushNotifications", "a declared capability works"), async () => {
  for (const options of EITHER_WAY) {
    await using inbox = await openInbox();
    await using testServer = await serveScript(
      async () => "done",
      { capabilities: { pushNotifications: true } },
      options,
    );
    const { json } = await get(`${testServer.url}/.well-known/agent.json`);
    expect(at(json, "capabilities.pushNotifications")).toBe(true);
    const configuration = { pushNotificationConfig: { url: inbox.url() } };
    await post(textAt(json, "url"), rpcRequest(1, "message/send", { message: userMessage("Hello"), configuration }));
    await inbox.next();
  }
});

it(
  seed.example(
    "7.5. tasks/pushNotificationConfig/set",
    "returns the stored webhook, with an id from the server and masked secrets",
  ),
  () =>
    withTask(async (testServer, taskId, version) => {
      const answer = await hooks(testServer, "set", { taskId, pushNotificationConfig: FULL });
      const success = version === "0.3" && { success: true };
      expect(resultOf(answer, 7)).toEqual({ taskId, pushNotificationConfig: { id: ID, ...SHOWN }, ...success });
      const refused = await hooks(testServer, "set", { taskId, pushNotificationConfig: { url: "https://10.0.0.1/" } });
      expect(errorOf(refused, 7)).toMatchObject({
        code: -32602,
        data: { violations: [{ field: "pushNotificationConfig.url" }] },
      });
      const nowhere = await hooks(testServer, "set", { taskId: "nowhere", pushNotificationConfig: FULL });
      expect(errorOf(nowhere, 7)).toMatchObject({ code: -32001 });
    }),
);

it(
  seed.example(
    "7.6. tasks/pushNotificationConfig/get",
    "returns the webhook with that id, or the latest without an id; -32001 if there is none",
  ),
  () =>
    withTask(async (testServer, id) => {
      expect(errorOf(await hooks(testServer, "get", { id }), 7)).toMatchObject({ code: -32001 });
      const set = async (url: string) =>
        textAt(
          resultOf(await hooks(testServer, "set", { taskId: id, pushNotificationConfig: { url } }), 7),
          "pushNotificationConfig.id",
        );
      const [one, two] = [await set(`${HOOK}/1`), await set(`${HOOK}/2`)];
      expect(resultOf(await hooks(testServer, "get", { id, pushNotificationConfigId: one }), 7)).toEqual({
        taskId: id,
        pushNotificationConfig: { id: one, url: `${HOOK}/1` },
      });
      expect(resultOf(await hooks(testServer, "get", { id }), 7)).toMatchObject({
        pushNotificationConfig: { id: two },
      });
    }),
);

it(seed.example("7.7. tasks/pushNotificationConfig/list", "returns all webhooks of a task as a bare list"), () =>
  withTask(async (testServer, id) => {
    expect(resultOf(await hooks(testServer, "list", { id }), 7)).toEqual([]);
    for (const name of ["a", "b"]) {
      await hooks(testServer, "set", { taskId: id, pushNotificationConfig: { ...FULL, id: name } });
    }
    expect(resultOf(await hooks(testServer, "list", { id }), 7)).toEqual([
      { taskId: id, pushNotificationConfig: { id: "a", ...SHOWN } },
      { taskId: id, pushNotificationConfig: { id: "b", ...SHOWN } },
    ]);
    expect(errorOf(await hooks(testServer, "list", { id: "nowhere" }), 7)).toMatchObject({ code: -32001 });
  }),
);

it(seed.example("7.8. tasks/pushNotificationConfig/delete", "returns null, also if there is nothing to delete"), () =>
  withTask(async (testServer, id) => {
    await hooks(testServer, "set", { taskId: id, pushNotificationConfig: { ...FULL, id: "a" } });
    for (const _ of [1, 2]) {
      const { json } = await hooks(testServer, "delete", { id, pushNotificationConfigId: "a" });
      expect(json).toEqual({ jsonrpc: "2.0", id: 7, result: null });
    }
    expect(resultOf(await hooks(testServer, "list", { id }), 7)).toEqual([]);
    const unnamed = await hooks(testServer, "delete", { id });
    expect(errorOf(unnamed, 7)).toMatchObject({ code: -32602 });
  }),
);

const REPORT = "Generate the Q1 sales report. This usually takes a while. Notify me when it's ready.";

/** Requests the report with a webhook at this address. */
async function askForReport({ url }: TestServer, hook: string): Promise<unknown> {
  const message = { role: "user", parts: [textPart(REPORT)], messageId: "6dbc13b5-bd57-4c2b-b503-24e381b6c8d6" };
  const pushNotificationConfig = { url: hook, token: FULL.token, authentication: { schemes: ["Bearer"] } };
  const params = { message, configuration: { pushNotificationConfig } };
  return resultOf(await post(url, rpcRequest("req-005", "message/send", params)), "req-005");
}

it(
  seed.example(
    "9.5. Push Notification Setup and Usage › 1 request",
    "the webhook is stored with the task of its message",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using inbox = await openInbox();
      await using testServer = await serveScript(async () => "done", {}, options);
      const { taskId } = idsOf(await askForReport(testServer, inbox.url()));
      const kept = resultOf(await hooks(testServer, "list", { id: taskId }), 7);
      expect(kept).toEqual([
        {
          taskId,
          pushNotificationConfig: {
            id: ID,
            url: inbox.url(),
            token: "***",
            authentication: { schemes: ["Bearer"] },
          },
        },
      ]);
    }
  },
);

it(
  seed.example(
    "9.5. Push Notification Setup and Usage › 2 response",
    "the send returns the working task at once, because a webhook is notified",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using inbox = await openInbox();
      const gate = createGate();
      await using testServer = await serveScript(async (task) => gate.passed(task.signal), {}, options);
      expect(await askForReport(testServer, inbox.url())).toMatchObject({
        kind: "task",
        id: ID,
        contextId: ID,
        status: { state: expect.stringMatching(/^(submitted|working)$/), timestamp: TIME },
      });
      gate.open();
    }
  },
);

it(
  seed.example(
    "9.5. Push Notification Setup and Usage › 3 notification",
    "the finished task is posted, with the token, and with a signed token as Bearer that the receiver can verify",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using inbox = await openInbox();
      await using testServer = await serveScript(async (task) => task.artifact("report").end("Up"), {}, options);
      const ids = idsOf(await askForReport(testServer, inbox.url("/webhook/a2a-notifications")));
      const last = (await inbox.until(({ body }) => body.includes('"completed"'))).at(-1);
      expect(last?.path).toBe("/webhook/a2a-notifications");
      expect(last?.headers).toMatchObject({
        authorization: `Bearer ${String(last?.headers["x-a2a-notification-signature"])}`,
        "content-type": "application/json",
        "x-a2a-notification-token": FULL.token,
      });
      expect(JSON.parse(last?.body ?? "")).toMatchObject({
        kind: "task",
        id: ids.taskId,
        contextId: ids.contextId,
        status: { state: "completed", timestamp: TIME },
        artifacts: [{ name: "report", parts: [textPart("Up")] }],
      });
      const received = { method: "POST", headers: last?.headers ?? {}, body: last?.body ?? "" };
      const trusted = {
        issuers: [testServer.url],
        audience: inbox.url("/webhook/a2a-notifications"),
        token: FULL.token,
      };
      expect(await verifyWebhook(received, trusted)).toMatchObject({ ok: true, taskId: ids.taskId });
    }
  },
);

it(
  seed.example(
    "10.2. Security Considerations Summary › push notifications",
    "webhooks in the server's own network are refused; notifications are signed, and forged ones are rejected",
  ),
  async () => {
    await using inbox = await openInbox();
    await using testServer = await serveScript(async () => "done");
    // The test allows only this machine's own address.
    for (const url of [
      "https://169.254.169.254/",
      "https://192.168.0.1/",
      "https://[fe80::1]/",
      "file:///etc/passwd",
    ]) {
      const configuration = { pushNotificationConfig: { url } };
      const refused = await post(
        testServer.url,
        rpcRequest(1, "message/send", { message: userMessage("Hello"), configuration }),
      );
      expect(errorOf(refused, 1)).toMatchObject({ code: -32602 });
    }
    await askForReport(testServer, inbox.url());
    const { headers, body } = await inbox.next();
    const trusted = { issuers: [testServer.url], audience: inbox.url() };
    expect(await verifyWebhook({ method: "POST", headers, body }, trusted)).toMatchObject({ ok: true });
    for (const [changed, reason] of [
      [{ headers, body: body.replace('"kind"', '"Kind"') }, "wrong-body"],
      [
        { headers: { ...headers, authorization: undefined, "x-a2a-notification-signature": undefined }, body },
        "no-signature",
      ],
    ] as const) {
      expect(await verifyWebhook({ method: "POST", ...changed }, trusted)).toMatchObject({ ok: false, reason });
    }
    const elsewhere = { ...trusted, audience: "https://another.example/" };
    expect(await verifyWebhook({ method: "POST", headers, body }, elsewhere)).toMatchObject({
      reason: "wrong-audience",
    });
  },
);

it(
  seed.example(
    "9.5. Push Notification Setup and Usage › 4 the client's webhook service",
    "notifications with a wrong token or an unknown signature are rejected; others are accepted",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using inbox = await openInbox();
      await using testServer = await serveScript(async () => "done", {}, options);
      const { taskId } = idsOf(await askForReport(testServer, inbox.url()));
      const { headers, body } = (await inbox.until((one) => one.body.includes('"completed"'))).at(-1) ?? {};
      const verify = createWebhookVerifier({
        issuers: [testServer.url],
        audience: inbox.url(),
        token: (id) => (id === taskId ? FULL.token : undefined),
      });
      const received = (changes: object) =>
        verify({ method: "POST", headers: { ...headers, ...changes }, body: body ?? "" });
      for (const changes of [
        { "x-a2a-notification-token": undefined },
        { "x-a2a-notification-token": "secure-client-token-for-task-bbb" },
        { authorization: "Bearer x.y.z", "x-a2a-notification-signature": "x.y.z" },
      ]) {
        const turnedAway = await received(changes);
        expect(turnedAway.ok ? 200 : turnedAway.status).toBeGreaterThanOrEqual(400);
      }
      expect(await received({})).toMatchObject({
        ok: true,
        repeated: false,
        notification: { taskId, state: "completed", event: { kind: "task", task: { id: taskId } } },
      });
      expect(await received({})).toMatchObject({ ok: true, repeated: true });
    }
  },
);
