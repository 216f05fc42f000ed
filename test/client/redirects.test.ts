import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentClient,
  clearAgentCardCache,
  connect,
  createAuthorizer,
  discover,
  fetchAgentCard,
  invokeRemoteAgent,
  RemoteError,
  verifyCard,
} from "palaver/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveArtifacts } from "../../src/cli/session/save-artifacts.ts";
import { senderOf } from "../../src/client/http/send.ts";
import type { AgentCard } from "../../src/protocol/card.ts";
import type { ArtifactId } from "../../src/protocol/ids.ts";
import { openOrigin, type Received, type RecordingOrigin } from "./recording-origin.ts";

const STATUSES = [301, 302, 303, 307, 308];
const SECRET = "a-secret-value";
const HEADERS = { "x-api-key": SECRET, authorization: `Bearer ${SECRET}`, cookie: `k=${SECRET}`, "x-own": SECRET };
const QUICK = { retry: { attempts: 2, reconnects: 2, baseDelay: 1, maxDelay: 2 }, poll: { first: 1, most: 2 } };
const CARD_PATH = "/.well-known/agent-card.json";

/** The server `first` redirects every request to the same path of `second`, with this status. */
let first: RecordingOrigin;
let second: RecordingOrigin;
let status = 307;
/** Overrides the redirect of `first` for some requests. */
let exception: (request: Received) => { readonly status: number; readonly body: string } | undefined;

beforeEach(async () => {
  exception = () => undefined;
  second = await openOrigin((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(wireCard(first.url))),
  );
  first = await openOrigin((response, request) => {
    const other = exception(request);
    if (other === undefined) response.writeHead(status, { location: `${second.url}${request.url}` }).end();
    else response.writeHead(other.status, { "content-type": "application/json" }).end(other.body);
  });
});

afterEach(async () => {
  await first.close();
  await second.close();
  clearAgentCardCache();
});

function wireCard(url: string): object {
  return { name: "A", version: "1", protocolVersion: "0.3.0", url: `${url}/rpc`, capabilities: {}, skills: [] };
}

function cardOf(binding: string, protocolVersion = "1.0"): AgentCard {
  return {
    name: "A",
    description: "",
    version: "1",
    interfaces: [{ url: `${first.url}/agent`, binding, protocolVersion }],
    capabilities: { streaming: true, extendedAgentCard: true, pushNotifications: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}

async function failure(promise: Promise<unknown>): Promise<RemoteError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof RemoteError) return thrown;
  throw new Error("Expected a RemoteError.", { cause: thrown });
}

type Call = (agent: AgentClient) => Promise<unknown>;

const PUSH = { id: "p", url: "https://hooks.example/", token: SECRET };
const CALLS: Readonly<Record<string, Call>> = {
  send: (agent) => agent.send(SECRET),
  stream: (agent) => agent.stream(SECRET).result(),
  "task.get": (agent) => agent.task("t").get(),
  "task.wait": (agent) => agent.task("t").wait(),
  "task.cancel": (agent) => agent.task("t").cancel(),
  "task.subscribe": (agent) => agent.task("t").subscribe().result(),
  "task.reply": (agent) => agent.task("t").reply(SECRET),
  taskPage: (agent) => agent.taskPage(),
  extendedCard: (agent) => agent.extendedCard(),
  "push.create": (agent) => agent.task("t").push.create(PUSH),
  "push.get": (agent) => agent.task("t").push.get("p"),
  "push.list": (agent) => agent.task("t").push.list(),
  "push.delete": (agent) => agent.task("t").push.delete("p"),
};

describe.each(STATUSES)("a redirect to another origin with HTTP %i", (code) => {
  beforeEach(() => {
    status = code;
  });

  describe.each(["JSONRPC", "HTTP+JSON"])("over %s", (binding) => {
    it.each(Object.entries(CALLS))("is refused by %s: the other origin receives nothing", async (_name, call) => {
      for (const guard of [undefined, () => {}]) {
        const agent = await connect(cardOf(binding), { ...QUICK, headers: HEADERS, guard });
        const error = await failure(call(agent));
        expect(error).toMatchObject({ code: "blocked-url" });
        expect(error.message).toContain(new URL(second.url).origin);
      }
      expect(first.received.length).toBeGreaterThan(0);
      expect(second.received).toEqual([]);
    });
  });

  it("is followed for a card, without the caller's headers", async () => {
    const found = await discover(first.url, { headers: HEADERS, cache: false });
    expect(found.url).toBe(`${second.url}${CARD_PATH}`);
    expect(second.received).toHaveLength(1);
    expect(JSON.stringify(second.received)).not.toContain(SECRET);
    expect(second.received[0]).toMatchObject({ method: "GET", body: "" });
  });

  it("is followed by fetchAgentCard, without the caller's headers", async () => {
    expect(await fetchAgentCard(first.url, { headers: HEADERS })).toMatchObject({ name: "A" });
    expect(second.received).toHaveLength(1);
    expect(JSON.stringify(second.received)).not.toContain(SECRET);
  });

  it("is refused for a card fetched with credentials", async () => {
    exception = ({ headers, url }) =>
      headers.authorization === undefined && !url.includes(SECRET) ? { status: 401, body: "{}" } : undefined;
    for (const credentials of [{ bearer: SECRET }, { apiKey: { in: "query", name: "k", value: SECRET } as const }]) {
      const error = await failure(connect(first.url, { cache: false, credentials }));
      expect(error).toMatchObject({ code: "blocked-url", message: expect.stringContaining(second.url) });
    }
    expect(second.received).toEqual([]);
  });

  it("is refused by invokeRemoteAgent for its message", async () => {
    exception = ({ url }) =>
      url === CARD_PATH ? { status: 200, body: JSON.stringify(wireCard(first.url)) } : undefined;
    const result = await invokeRemoteAgent(first.url, SECRET, { headers: HEADERS, cache: false });
    expect(result).toMatchObject({ success: false, error: expect.stringContaining(second.url) });
    expect(second.received).toEqual([]);
  });

  it("is refused for the keys of an untrusted origin", async () => {
    const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k", jku: `${first.url}/keys` })).toString(
      "base64url",
    );
    const card = { ...wireCard(first.url), signatures: [{ protected: header, signature: "AAAA" }] };
    const verification = { jwksHosts: [new URL(first.url).host] };
    expect(await failure(verifyCard(card, verification, { headers: HEADERS }))).toMatchObject({
      code: "invalid-signature",
    });
    expect(first.received.map(({ url }) => url)).toEqual(["/keys"]);
    expect(second.received).toEqual([]);
  });

  it.each([
    ["metadata", (): object => ({ issuer: first.url })],
    ["token", (): object => ({ tokenUrl: `${first.url}/token` })],
  ])("is refused for a %s request to an authorization server", async (_what, place) => {
    const credentials = { oauth2: { clientId: "me", clientSecret: SECRET, ...place() } };
    const card: AgentCard = {
      ...cardOf("JSONRPC"),
      securitySchemes: { o: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://x/", scopes: {} } } } },
    };
    const { authorize } = createAuthorizer(card, credentials, { headers: HEADERS });
    const request = { url: new URL(first.url), headers: new Headers() };
    const authorized = Promise.resolve(authorize(request, { operation: "send", signal: new AbortController().signal }));
    expect(await failure(authorized)).toMatchObject({ code: "blocked-url" });
    expect(second.received).toEqual([]);
  });

  it("is followed for a file that the command line saves, without the caller's headers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "redirected-"));
    const artifact = { artifactId: "a" as ArtifactId, parts: [{ url: `${first.url}/file`, filename: "f.json" }] };
    const signal = new AbortController().signal;
    await saveArtifacts([artifact], { folder, overwrite: true, send: senderOf({}), signal });
    expect(JSON.parse(readFileSync(join(folder, "f.json"), "utf8"))).toMatchObject({ name: "A" });
    expect(Object.keys(second.received[0]?.headers ?? {})).not.toContain("authorization");
  });
});

describe("a redirect within the origin", () => {
  const reply = ({ body }: Received): { status: number; body: string } => ({
    status: 200,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: JSON.parse(body).id,
      result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "Hi" }] } },
    }),
  });

  async function sendThrough(code: number): Promise<{ origin: RecordingOrigin; result: Promise<unknown> }> {
    const origin = await openOrigin((response, request) => {
      if (request.url === "/agent") response.writeHead(code, { location: "/moved" }).end();
      else {
        const answer = reply(request);
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
      }
    });
    const card = {
      ...cardOf("JSONRPC"),
      interfaces: [{ ...cardOf("JSONRPC").interfaces[0], url: `${origin.url}/agent` }],
    };
    const agent = await connect(card, { ...QUICK, headers: HEADERS });
    return { origin, result: agent.send("hello") };
  }

  it.each([307, 308])("with HTTP %i keeps method, body and headers", async (code) => {
    const { origin, result } = await sendThrough(code);
    expect(await result).toMatchObject({ kind: "message" });
    const [asked, repeated] = origin.received;
    expect(repeated).toMatchObject({ method: "POST", url: "/moved", body: asked?.body });
    expect(repeated?.headers).toMatchObject({ "x-api-key": SECRET });
    await origin.close();
  });

  it.each([301, 302, 303])("with HTTP %i does not turn a POST into a GET", async (code) => {
    const { origin, result } = await sendThrough(code);
    expect(await failure(result)).toMatchObject({
      code: "blocked-url",
      message: expect.stringContaining(`to ${origin.url} with HTTP ${code}`),
    });
    expect(origin.received).toHaveLength(1);
    await origin.close();
  });

  it("that repeats is refused after 5 redirects", async () => {
    const origin = await openOrigin((response, { url }) => response.writeHead(308, { location: `${url}x` }).end());
    const card = { ...cardOf("JSONRPC"), interfaces: [{ ...cardOf("JSONRPC").interfaces[0], url: `${origin.url}/a` }] };
    const error = await failure((await connect(card, QUICK)).task("t").get());
    expect(error).toMatchObject({ code: "blocked-url", message: expect.stringContaining("more than 5") });
    expect(origin.received).toHaveLength(6);
    await origin.close();
  });
});
