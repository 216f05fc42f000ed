import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSigner, type SignedNotification } from "../auth/create-signer.ts";
import type { SigningKey } from "../auth/signing-keys.ts";
import { generateSigningKey, keysOf, publicPartOf } from "../auth/test/keys.ts";
import type { WebhookOptions } from "./contract.ts";
import { createWebhookVerifier } from "./create-webhook-verifier.ts";
import { createMemoryReplays } from "./memory-replays.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const ISSUER = "https://agents.example.org";
const URL_HERE = "https://hooks.example.org/in?secret=1";
const BODY = JSON.stringify({
  statusUpdate: { taskId: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } },
});
const NOW = Date.UTC(2026, 0, 1);

let key: SigningKey;
let served: { status: number; body: string };
let asked: string[];
const fetchKeys: typeof fetch = async (input) => {
  asked.push(input instanceof Request ? input.url : String(input));
  return new Response(served.body, { status: served.status });
};

beforeEach(async () => {
  key = await generateSigningKey();
  served = { status: 200, body: JSON.stringify({ keys: [publicPartOf(key)] }) };
  asked = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function sign(changes: Partial<SignedNotification> = {}, signingKey = key): Promise<string> {
  const notification = {
    issuer: ISSUER,
    audience: URL_HERE,
    taskId: "t1",
    jti: "j1",
    body: BODY,
    now: NOW,
    ...changes,
  };
  return createSigner(keysOf(signingKey)).signNotification(notification);
}

const options: WebhookOptions = { issuers: [ISSUER], audience: URL_HERE, fetch: fetchKeys, now: () => NOW };

function post(headers: Record<string, string>, body = BODY): Request {
  return new Request("https://hooks.example.org/in", { method: "POST", headers, body });
}

async function signed(changes?: Partial<SignedNotification>): Promise<Request> {
  return post({ "x-a2a-notification-signature": await sign(changes) });
}

describe("a signed notification", () => {
  it("is accepted and parsed in every version", async () => {
    const verify = createWebhookVerifier(options);
    expect(await verify(await signed())).toMatchObject({
      ok: true,
      taskId: "t1",
      jti: "j1",
      issuer: ISSUER,
      repeated: false,
      notification: { taskId: "t1", state: "completed" },
    });
    expect(asked).toEqual([`${ISSUER}/.well-known/jwks.json`]);
  });

  it("may be a bearer token, and the request may be any object with headers and a body", async () => {
    const token = await sign();
    const verify = createWebhookVerifier(options);
    expect(await verify(post({ authorization: `Bearer ${token}` }))).toMatchObject({ ok: true });
    const headers = { "X-A2A-Notification-Signature": token, accept: ["a", "b"], other: undefined };
    expect(await verify({ method: "post", headers, body: BODY })).toMatchObject({ ok: true });
    const bytes = new TextEncoder().encode(BODY);
    expect(
      await verify({ method: "POST", headers: new Headers({ authorization: `bearer ${token}` }), body: bytes }),
    ).toMatchObject({ ok: true });
  });

  it.each<[string, Partial<SignedNotification>]>([
    ["unknown-issuer", { issuer: "https://evil.example.org" }],
    ["unknown-issuer", { issuer: `${ISSUER}.evil.example.org` }],
    ["bad-signature", { issuer: "" }],
    ["wrong-audience", { audience: "https://hooks.example.org/other" }],
    ["wrong-body", { body: `${BODY} ` }],
    ["wrong-task", { taskId: "t2" }],
    ["too-old", { now: NOW - 361_000 }],
    ["too-new", { now: NOW + 61_000 }],
  ])("is refused as %s", async (reason, changes) => {
    expect(await createWebhookVerifier(options)(await signed(changes))).toEqual({ ok: false, reason, status: 401 });
  });

  it("causes no fetch of keys from an issuer that is not trusted", async () => {
    await createWebhookVerifier(options)(await signed({ issuer: "https://evil.example.org" }));
    expect(asked).toEqual([]);
  });

  it("is refused if it is missing or not a token", async () => {
    const verify = createWebhookVerifier(options);
    const verdict = async (headers: Record<string, string>, body?: string): Promise<unknown> => {
      const result = await verify(post(headers, body));
      return result.ok ? "ok" : result.reason;
    };
    expect(await verdict({})).toBe("no-signature");
    expect(await verdict({ authorization: "Bearer opaque" })).toBe("no-signature");
    expect(await verdict({ authorization: "Basic eDp5" })).toBe("no-signature");
    expect(await verdict({ "x-a2a-notification-signature": "x" })).toBe("bad-signature");
    const other = await sign({}, { ...(await generateSigningKey()), kid: key.kid });
    expect(await verdict({ "x-a2a-notification-signature": other })).toBe("bad-signature");
    const unknown = await sign({}, await generateSigningKey());
    expect(await verdict({ "x-a2a-notification-signature": unknown })).toBe("unknown-key");
    for (const body of ["", "[]", "{", '{"hello":1}', "\u0000"]) {
      expect(await verdict({ "x-a2a-notification-signature": await sign({ body }) }, body)).toBe("not-a-notification");
    }
    expect(await verify(new Request(URL_HERE))).toEqual({ ok: false, reason: "not-a-post", status: 405 });
  });

  it("must not be longer than maxBytes", async () => {
    const verify = createWebhookVerifier({ ...options, maxBytes: 50 });
    expect(await verify(await signed())).toEqual({ ok: false, reason: "too-large", status: 413 });
    expect(await verify({ method: "POST", headers: {}, body: BODY })).toMatchObject({ reason: "too-large" });
  });

  it("with a new key is accepted before the sender's last retry, even if the keys were just fetched", async () => {
    const verify = createWebhookVerifier(options);
    const began = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(began);
    expect(await verify(await signed())).toMatchObject({ ok: true });
    key = await generateSigningKey();
    served.body = JSON.stringify({ keys: [publicPartOf(key)] });
    const request = await signed({ jti: "j2" });
    expect(await verify(request.clone())).toMatchObject({ reason: "unknown-key" });
    // The minimum sum of the three pauses before the last retry.
    clock.mockReturnValue(began + 15_500);
    expect(await verify(request)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(2);
  });

  it("is answered with 503 if its issuer's keys cannot be fetched", async () => {
    served.status = 500;
    expect(await createWebhookVerifier(options)(await signed())).toEqual({
      ok: false,
      reason: "keys-unavailable",
      status: 503,
    });
  });

  it("is accepted from issuers that a function trusts, if their keys are fetched over https", async () => {
    const believed = vi.fn<(issuer: string) => boolean>((issuer) => issuer.includes("example.org"));
    const verify = createWebhookVerifier({ ...options, issuers: believed });
    expect(await verify(await signed({ issuer: "https://other.example.org/agents/" }))).toMatchObject({ ok: true });
    expect(asked).toEqual(["https://other.example.org/agents/.well-known/jwks.json"]);
    expect(await verify(await signed({ issuer: "https://example.com" }))).toMatchObject({ reason: "unknown-issuer" });
    for (const issuer of ["http://a.example.org", "file:///example.org", "https://u:p@a.example.org", "example.org"]) {
      expect(await verify(await signed({ issuer })), issuer).toMatchObject({ reason: "unknown-issuer" });
    }
    expect(believed.mock.calls.map(([issuer]) => issuer)).toEqual([
      "https://other.example.org/agents/",
      "https://example.com",
    ]);
  });

  it("may have its keys at another URL, and its webhook several URLs", async () => {
    const verify = createWebhookVerifier({
      ...options,
      issuers: [{ issuer: ISSUER, jwksUrl: "https://keys.example.org/k" }],
      audience: ["https://a.example.org", "https://HOOKS.example.org:443/in?secret=1"],
    });
    expect(await verify(await signed())).toMatchObject({ ok: true });
    expect(await verify(await signed({ jti: "j2", audience: "https://a.example.org/" }))).toMatchObject({ ok: true });
    expect(asked).toEqual(["https://keys.example.org/k"]);
    const asking = createWebhookVerifier({ ...options, audience: (url) => url.endsWith("/t1") });
    expect(await asking(await signed({ audience: "https://x/t1" }))).toMatchObject({ ok: true });
  });
});

describe("a repeated notification", () => {
  it("is reported or refused", async () => {
    const verify = createWebhookVerifier(options);
    expect(await verify(await signed())).toMatchObject({ ok: true, repeated: false });
    expect(await verify(await signed())).toMatchObject({ ok: true, repeated: true });
    expect(await verify(await signed({ jti: "j2" }))).toMatchObject({ ok: true, repeated: false });
    const strict = createWebhookVerifier({ ...options, repeats: "refuse" });
    expect(await strict(await signed())).toMatchObject({ ok: true });
    expect(await strict(await signed())).toEqual({ ok: false, reason: "repeated", status: 409 });
  });

  it("is recognised only if its signature is valid", async () => {
    const verify = createWebhookVerifier({ ...options, repeats: "refuse" });
    const other = await sign({}, { ...(await generateSigningKey()), kid: key.kid });
    expect(await verify(post({ "x-a2a-notification-signature": other }))).toMatchObject({ reason: "bad-signature" });
    expect(await verify(await signed())).toMatchObject({ ok: true });
  });

  it("is recognised by a custom replay store", async () => {
    const seen: [string, number][] = [];
    const replays = { remember: (id: string, until: number) => seen.push([id, until]) > 1 };
    const verify = createWebhookVerifier({ ...options, replays });
    expect(await verify(await signed())).toMatchObject({ repeated: false });
    expect(await verify(await signed())).toMatchObject({ repeated: true });
    expect(seen[0]).toEqual([`${ISSUER} j1`, NOW + 360_000]);
  });
});

describe("the replay memory", () => {
  it("forgets expired ids, and the oldest ids over its limit", () => {
    let now = 0;
    const replays = createMemoryReplays(2, () => now);
    expect(replays.remember("a", 10)).toBe(false);
    expect(replays.remember("a", 10)).toBe(true);
    now = 11;
    expect(replays.remember("a", 20)).toBe(false);
    expect(replays.remember("b", 20)).toBe(false);
    expect(replays.remember("c", 20)).toBe(false);
    expect(replays.remember("b", 20)).toBe(true);
    expect(replays.remember("a", 20)).toBe(false);
  });
});

describe("a token", () => {
  const tokenOnly: WebhookOptions = { token: "s3cret" };

  it("is sufficient without a signature", async () => {
    const verify = createWebhookVerifier(tokenOnly);
    expect(await verify(post({ "x-a2a-notification-token": "s3cret" }))).toMatchObject({
      ok: true,
      taskId: "t1",
      jti: undefined,
      repeated: false,
    });
    expect(await verify(post({}))).toEqual({ ok: false, reason: "no-token", status: 401 });
    expect(await verify(post({ "x-a2a-notification-token": "s3cre" }))).toMatchObject({ reason: "wrong-token" });
    expect(await verify(post({ "x-a2a-notification-token": "s3cret" }, "{}"))).toMatchObject({
      reason: "not-a-notification",
    });
  });

  it("is required in addition to a signature", async () => {
    const verify = createWebhookVerifier({ ...options, token: "s3cret" });
    expect(await verify(await signed())).toMatchObject({ reason: "no-token" });
    const headers = { "x-a2a-notification-signature": await sign(), "x-a2a-notification-token": "s3cret" };
    expect(await verify(post(headers))).toMatchObject({ ok: true });
    expect(await verify(post({ "x-a2a-notification-token": "s3cret" }))).toMatchObject({ reason: "no-signature" });
  });

  it("may differ per task", async () => {
    const verify = createWebhookVerifier({ token: (taskId) => (taskId === "t1" ? "one" : undefined) });
    expect(await verify(post({ "x-a2a-notification-token": "one" }))).toMatchObject({ ok: true });
    const other = BODY.replace("t1", "t2");
    expect(await verify(post({ "x-a2a-notification-token": "one" }, other))).toMatchObject({ reason: "wrong-token" });
    expect(await verify(post({ "x-a2a-notification-token": "" }, other))).toMatchObject({ reason: "no-token" });
  });
});

describe("options", () => {
  it.each<[WebhookOptions, string]>([
    [{}, "Set issuers or token"],
    [{ issuers: [], audience: URL_HERE }, "must not be empty"],
    [{ issuers: [ISSUER] }, "audience"],
    [{ token: "" }, "must not be empty"],
    [{ issuers: ["http://agents.example.org"], audience: URL_HERE }, "must be an https URL"],
    [{ issuers: ["nonsense"], audience: URL_HERE }, "must be an https URL"],
  ])("%j are refused, because they would accept any notification", (wrong, message) => {
    expect(() => createWebhookVerifier(wrong)).toThrow(message);
  });

  it("may be written inline in every call, and repeats are still recognised", async () => {
    vi.stubGlobal("fetch", fetchKeys);
    const jti = crypto.randomUUID();
    const call = async () =>
      verifyWebhook(await signed({ jti, now: Date.now() }), { issuers: [ISSUER], audience: URL_HERE });
    expect(await call()).toMatchObject({ ok: true, repeated: false });
    expect(await call()).toMatchObject({ ok: true, repeated: true });
    expect(asked).toHaveLength(1);
    await expect(verifyWebhook(post({}), {})).rejects.toThrow(TypeError);
  });
});
