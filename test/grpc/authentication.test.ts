import type { ClientHttp2Session } from "node:http2";
import { A2AError, agent, createServer, type ServerOptions } from "palaver";
import { apiKeys } from "palaver/auth";
import { describe, expect, it } from "vitest";
import { openSession, type RawAnswer, rawCall, SERVICE_0_3, SERVICE_1_0 } from "./call.ts";
import { framed, message, number, text } from "./protobuf.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const keyOf = (owner: string, header: string) =>
  apiKeys({ name: header, verify: async (key) => (key === owner ? { id: owner, scopes: [] } : undefined) });
/** Callers of the first agent show one key, callers of the second another. */
const SECURITY: ServerOptions = { security: { schemes: { one: keyOf("ada", "x-one"), two: keyOf("bob", "x-two") } } };

const declare = (id: string) => ({ id, name: id, description: `The agent ${id}.`, version: "1.0.0" });
const agentsOf = (isGuarded: boolean) => [
  agent({ ...declare("first"), ...(isGuarded && { security: [{ one: [] }] }), run: async () => "first" }),
  agent({ ...declare("second"), ...(isGuarded && { security: [{ two: [] }] }), run: async () => "second" }),
];

async function served(options: ServerOptions, use: (session: ClientHttp2Session) => Promise<void>): Promise<void> {
  const server = createServer(agentsOf(options.security !== undefined), {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    ...options,
  });
  const { url } = await server.listen();
  const session = await openSession(url);
  try {
    await use(session);
  } finally {
    session.destroy();
    await server.close();
  }
}

/** The answer to a call of which only the headers are sent. */
function withoutBody(
  session: ClientHttp2Session,
  headers: Record<string, string> = {},
  service: string = SERVICE_1_0,
): Promise<RawAnswer> {
  return rawCall(session, { path: `/${service}/SendMessage`, headers, isUnfinished: true });
}

const send = (session: ClientHttp2Session, agentId: string, headers: Record<string, string>): Promise<RawAnswer> =>
  rawCall(session, {
    path: `/${SERVICE_1_0}/SendMessage`,
    headers,
    body: framed(
      Buffer.concat([text(1, `agents/${agentId}`), message(2, text(1, "m"), number(4, 1), message(5, text(1, "hi")))]),
    ),
  });

describe("A gRPC call whose message never arrives", () => {
  it.each([SERVICE_1_0, SERVICE_0_3])("gets UNAUTHENTICATED at once from %s without valid credentials", (service) =>
    served(SECURITY, async (session) => {
      expect(await withoutBody(session, {}, service)).toMatchObject({ http: 200, grpc: 16 });
      const answer = await withoutBody(session, { "x-one": "wrong" }, service);
      expect(answer).toMatchObject({ http: 200, grpc: 16, message: expect.stringContaining("Invalid credentials") });
    }),
  );

  it("gets the error of the operator's own authenticator at once", () =>
    served({ authenticate: () => Promise.reject(new A2AError("permission-denied", "Not you")) }, async (session) => {
      expect(await withoutBody(session)).toMatchObject({ grpc: 7, message: "Not you" });
    }));

  it("gets UNAVAILABLE if the credentials cannot be verified now, whichever agent it is for", () => {
    const authenticate: ServerOptions["authenticate"] = ({ agent: id }) =>
      Promise.reject(new A2AError(id === "second" ? "unavailable" : "unauthenticated", `Refused by ${id}`));
    return served({ authenticate }, async (session) => {
      expect(await withoutBody(session)).toMatchObject({ grpc: 14, message: "Refused by second" });
    });
  });

  it("counts for the rate limit of its address, and gets RESOURCE_EXHAUSTED beyond it", () =>
    served({ ...SECURITY, rateLimit: { address: { requests: 1, seconds: 60 } } }, async (session) => {
      expect(await withoutBody(session)).toMatchObject({ grpc: 16 });
      expect(await withoutBody(session)).toMatchObject({ grpc: 8, headers: { "retry-after": expect.any(String) } });
    }));

  it("counts for the rate limit of its caller, and gets RESOURCE_EXHAUSTED beyond it", () =>
    served({ ...SECURITY, rateLimit: { principal: { requests: 1, seconds: 60 } } }, async (session) => {
      expect(await send(session, "first", { "x-one": "ada" })).toMatchObject({ grpc: 0 });
      expect(await withoutBody(session, { "x-one": "ada" })).toMatchObject({ grpc: 8 });
    }));
});

describe("A gRPC call whose message names the agent", () => {
  it("needs the credentials of that agent, whatever other agents accept", () =>
    served(SECURITY, async (session) => {
      expect(await send(session, "first", { "x-one": "ada" })).toMatchObject({ grpc: 0 });
      expect(await send(session, "second", { "x-two": "bob" })).toMatchObject({ grpc: 0 });
      expect(await send(session, "first", { "x-two": "bob" })).toMatchObject({ grpc: 16 });
      expect(await send(session, "second", { "x-one": "ada" })).toMatchObject({ grpc: 16 });
    }));

  it("acts as the caller that the agent's own authentication finds, and counts once for each caller", () => {
    const owners: string[] = [];
    const authenticate: ServerOptions["authenticate"] = ({ agent: id }) => ({
      id: `caller of ${id}`,
      anonymous: false,
      scopes: [],
    });
    const on: ServerOptions["on"] = { call: ({ principal, agent: id }) => void owners.push(`${id}: ${principal.id}`) };
    return served({ authenticate, on, rateLimit: { principal: { requests: 2, seconds: 60 } } }, async (session) => {
      expect(await send(session, "second", {})).toMatchObject({ grpc: 0, headers: { "ratelimit-remaining": "1" } });
      expect(await send(session, "first", {})).toMatchObject({ grpc: 0, headers: { "ratelimit-remaining": "0" } });
      expect(owners).toEqual(["second: caller of second", "first: caller of first"]);
    });
  });
});
