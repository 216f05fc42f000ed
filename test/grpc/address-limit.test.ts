import type { ClientHttp2Session } from "node:http2";
import { agent, createServer, type ServerOptions } from "palaver";
import { describe, expect, it } from "vitest";
import { openSession, rawCall, SERVICE_0_3, SERVICE_1_0 } from "./call.ts";
import { framed, text } from "./protobuf.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const RESOURCE_EXHAUSTED = 8;

const declare = (id: string) => ({ id, name: id, description: `The agent ${id}.`, version: "1.0.0" });
const agents = ["first", "second"].map((id) => agent({ ...declare(id), run: async () => id }));

/** Two requests per minute for one network address. */
async function limited(audit: ServerOptions["audit"], use: (session: ClientHttp2Session) => Promise<void>) {
  const server = createServer(agents, {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    rateLimit: { address: { requests: 2, seconds: 60 } },
    ...(audit !== undefined && { audit }),
  });
  const session = await openSession((await server.listen()).url);
  try {
    await use(session);
  } finally {
    session.destroy();
    await server.close();
  }
}

const get = (session: ClientHttp2Session, service: string, host = "localhost") =>
  rawCall(session, {
    path: `/${service}/GetTask`,
    headers: { ":authority": host },
    body: framed(service === SERVICE_1_0 ? text(2, "x") : text(1, "tasks/x")),
  });

describe("A gRPC call beyond the rate limit of its network address", () => {
  it.each([
    [SERVICE_1_0, "first"],
    [SERVICE_0_3, "second"],
  ])("of %s is written to the audit log, the first of several in a row", async (service, named) => {
    const entries: object[] = [];
    await limited(
      (entry) => void entries.push(entry),
      async (session) => {
        for (let index = 0; index < 2; index += 1) await get(session, service);
        for (let index = 0; index < 3; index += 1)
          expect(await get(session, service, "second.localhost")).toMatchObject({ grpc: RESOURCE_EXHAUSTED });
      },
    );
    expect(entries).toHaveLength(3);
    expect(entries[2]).toEqual({
      time: expect.any(String),
      principal: "anonymous",
      agent: named,
      remote: "127.0.0.1",
      outcome: "rate-limited",
    });
  });

  it("to a service that does not exist is written to the audit log as well", async () => {
    const outcomes: string[] = [];
    await limited(
      ({ outcome }) => void outcomes.push(outcome),
      async (session) => {
        for (let index = 0; index < 4; index += 1) await get(session, "no.such.Service");
      },
    );
    expect(outcomes).toEqual(["rate-limited"]);
  });

  it("does not include health checks, as over HTTP", async () => {
    await limited(undefined, async (session) => {
      for (let index = 0; index < 3; index += 1) await get(session, SERVICE_1_0);
      const check = { path: "/grpc.health.v1.Health/Check", body: framed(text(1, "")) };
      expect(await rawCall(session, check)).toMatchObject({ grpc: 0 });
    });
  });
});
