import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import type { IncomingNotification } from "./contract.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const OPTIONS = { token: "secret" };
const BODY = '{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Posts a notification to an Express application, and resolves with the result or the error of verifying it there. */
async function outcomeBehind(parser: express.RequestHandler | undefined): Promise<unknown> {
  const application = express();
  if (parser !== undefined) application.use(parser);
  let outcome: unknown;
  application.post("/hook", async (request, response) => {
    // Untyped callers pass the Express request itself.
    const incoming = request as IncomingMessage as unknown as IncomingNotification;
    outcome = await verifyWebhook(incoming, OPTIONS).catch((error: unknown) => error);
    response.end();
  });
  const server = createServer(application).listen(0, "127.0.0.1");
  closing.push(() => server.close());
  await new Promise((listening) => server.once("listening", listening));
  const headers = { "Content-Type": "application/json", "X-A2A-Notification-Token": "secret" };
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body: BODY });
  return outcome;
}

describe("verifyWebhook with a request of Express", () => {
  it("explains that a body parser must keep the raw bytes", async () => {
    const error = await outcomeBehind(express.json());
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/a body parser has turned it into an object.*express\.raw\(/);
  });

  it("reports a missing body if no middleware has read it", async () => {
    expect(String(await outcomeBehind(undefined))).toMatch(/There is no body\. .*express\.raw\(/);
  });

  it("accepts the bytes of express.raw", async () => {
    expect(await outcomeBehind(express.raw({ type: () => true }))).toMatchObject({ ok: true, taskId: "t1" });
  });

  it("reports that the body of a web request was already read", async () => {
    const init = { method: "POST", headers: { "X-A2A-Notification-Token": "secret" }, body: BODY };
    const request = new Request("https://hooks.example.org/", init);
    await request.json();
    await expect(verifyWebhook(request, OPTIONS)).rejects.toThrow(/The body has been read already/);
  });
});
