import { expect, it } from "vitest";
import { openInbox } from "../../conformance/inbox.ts";
import { at, post } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { idsOf, userMessage } from "../kinds.ts";
import { ID } from "../matchers.ts";
import { errorOf, resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

it(
  seed.example(
    "1. message/send › Request with a webhook",
    "the send waits because it requests that, and the webhook is notified too, with its token",
  ),
  async () => {
    await using inbox = await openInbox();
    await using testServer = await serveScript(async () => "Processed");
    const params = {
      message: { ...userMessage("Process order #12345"), messageId: "msg-123", contextId: "ctx-456" },
      configuration: {
        blocking: true,
        pushNotificationConfig: { url: inbox.url("/webhook"), token: "secret-token" },
      },
      metadata: {},
    };
    const task = resultOf(await post(testServer.url, rpcRequest("req-001", "message/send", params)), "req-001");
    expect(at(task, "status.state")).toBe("completed");
    const last = (await inbox.until(({ body }) => body.includes('"completed"'))).at(-1);
    expect([last?.path, last?.headers["x-a2a-notification-token"]]).toEqual(["/webhook", "secret-token"]);
    expect(JSON.parse(last?.body ?? "")).toEqual(task);
  },
);

it(
  seed.example(
    "6. tasks/pushNotificationConfig/set",
    "returns the official object plus success: true; custom headers are sent to the webhook and not returned",
  ),
  async () => {
    await using inbox = await openInbox();
    await using testServer = await serveScript(async (task) => `You said ${await task.ask("What?")}`);
    const sent = resultOf(
      await post(testServer.url, rpcRequest(1, "message/send", { message: userMessage("Hello") })),
      1,
    );
    const { taskId } = idsOf(sent);
    const headers = { Authorization: "Bearer webhook-secret", "X-Custom-Header": "value" };
    const set = (more: object) =>
      rpcRequest("req-006", "tasks/pushNotificationConfig/set", {
        taskId,
        pushNotificationConfig: { url: inbox.url("/webhook"), ...more },
      });
    const kept = {
      taskId,
      pushNotificationConfig: {
        id: ID,
        url: inbox.url("/webhook"),
        headers: { Authorization: "***", "X-Custom-Header": "***" },
      },
    };
    const answer = resultOf(await post(testServer.url, set({ headers })), "req-006");
    expect(answer).toEqual({ ...kept, success: true });
    const read = rpcRequest(3, "tasks/pushNotificationConfig/get", { id: taskId });
    expect(resultOf(await post(testServer.url, read), 3)).toEqual(kept);
    const configs = `${testServer.url}/v1/tasks/${taskId}/pushNotificationConfigs`;
    const rest = await post(configs, { taskId, pushNotificationConfig: { url: inbox.url("/webhook"), headers } });
    expect(rest.json).toEqual({ ...kept, name: ID, success: true });
    await post(testServer.url, rpcRequest(2, "message/send", { message: userMessage("this", { taskId }) }));
    for (const received of await inbox.until(({ body }) => body.includes('"completed"'))) {
      expect(received.headers).toMatchObject({ authorization: "Bearer webhook-secret", "x-custom-header": "value" });
    }
    for (const name of ["Host", "Content-Length", "Content-Type", "Transfer-Encoding"]) {
      const refused = errorOf(await post(testServer.url, set({ headers: { [name]: "x" } })), "req-006");
      expect([at(refused, "code"), at(refused, "data.violations.0.field")]).toEqual([
        -32602,
        `pushNotificationConfig.headers.${name}`,
      ]);
    }
  },
);

it(
  seed.example(
    "Implementation Notes › 1. Authentication",
    "authentication uses HTTP only: credentials in a message have no effect",
  ),
  async () => {
    const issuer = await createIssuer();
    const security = { schemes: { bearer: issuer.verifier } };
    await using testServer = await serveScript(async (task) => task.caller.id, {}, { security });
    const { authorization } = await issuer.bearer("alice");
    const params = { message: userMessage("Hello", { metadata: { authorization } }), metadata: { authorization } };
    expect((await post(testServer.url, rpcRequest(1, "message/send", params))).status).toBe(401);
    const task = resultOf(await post(testServer.url, rpcRequest(1, "message/send", params), { authorization }), 1);
    expect(at(task, "artifacts.0.parts.0.text")).toBe("bearer:alice");
  },
);
