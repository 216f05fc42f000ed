import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, createServer } from "../../src/index.ts";
import { rotateSigningKeys, signingFileOf } from "../../src/platform/security/signing-keys.ts";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { until } from "../e2e/workbench.ts";
import { type Behaviour, type Received, Receiver } from "./receiver.ts";

const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });

let closing: (() => unknown)[];
beforeEach(() => {
  closing = [];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Starts a server with its keys in a file, and a webhook receiver. */
async function open(behave?: Behaviour): Promise<{ url: string; store: string; receiver: Receiver }> {
  const folder = mkdtempSync(join(tmpdir(), "palaver-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const receiver = await Receiver.open(behave);
  closing.push(() => receiver.close());
  const store = `sqlite:${join(folder, "tasks.db")}`;
  const server = createServer(echo, {
    ...{ store, port: 0, push: { retryDelay: 10 }, outgoing: { http: true, allow: ["loopback"] } },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  closing.push(() => server.close());
  return { url: (await server.listen()).url, store, receiver };
}

async function notify(url: string, hook: string): Promise<Task> {
  const taskPushNotificationConfig = { url: hook, authentication: { scheme: "Bearer" } };
  const params = sendParams("hi", { configuration: { taskPushNotificationConfig } });
  return (await must<{ task: Task }>(url, "SendMessage", params)).task;
}

const signatureOf = ({ headers }: Received): string => String(headers["x-a2a-notification-signature"]);

describe("A webhook notification", () => {
  it("can be verified with only the server's address and a JSON Web Token library", async () => {
    const { url, receiver } = await open();
    const hook = `${receiver.url}/hook?a=b`;
    const task = await notify(url, hook);
    await until(() => receiver.received.length === 3);
    const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
    for (const received of receiver.received) {
      const token = signatureOf(received);
      const { payload } = await jwtVerify(token, keys, { issuer: url, audience: hook, algorithms: ["ES256"] });
      const { iat = 0 } = payload;
      expect(payload).toEqual({
        ...{ iss: url, aud: hook, iat, exp: iat + 300, jti: received.jti, taskId: task.id },
        request_body_sha256: createHash("sha256").update(received.body).digest("hex"),
      });
      expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
      expect(received.headers.authorization).toBe(`Bearer ${token}`);
    }
    expect(new Set(receiver.received.map(({ jti }) => jti)).size).toBe(3);
  });

  it("that was retried after a key rotation is signed with the new key and keeps its jti", async () => {
    let isOpen = false;
    const { url, store, receiver } = await open((_, response) => {
      if (!isOpen) response.writeHead(503, { "retry-after": "1" }).end();
    });
    const hook = `${receiver.url}/hook`;
    await notify(url, hook);
    await until(() => receiver.received.length === 1);
    isOpen = true;
    const { kid } = rotateSigningKeys(signingFileOf(store) ?? "");
    await until(() => receiver.received.length === 4);
    const [before, after] = receiver.received.map((received) => decodeProtectedHeader(signatureOf(received)).kid);
    expect(after).toBe(kid);
    expect(receiver.received[1]?.jti).toBe(receiver.received[0]?.jti);
    const published = await (await fetch(`${url}/.well-known/jwks.json`)).text();
    const keys: JSONWebKeySet = JSON.parse(published);
    expect(keys.keys.map((key) => key.kid)).toEqual([kid, before]);
    expect(published).not.toContain('"d"');
    const remote = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
    for (const received of receiver.received) await jwtVerify(signatureOf(received), remote, { audience: hook });
  });
});
