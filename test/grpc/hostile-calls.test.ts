import { type ClientHttp2Session, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createServer, type Server } from "palaver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession, rawCall, SERVICE_1_0 } from "./call.ts";
import { GRPC_HTTP, HOSTILE_CALLS, LIMIT, VALID } from "./hostile-calls.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
let runs = 0;
let server: Server;
let url: string;
let session: ClientHttp2Session;

beforeAll(async () => {
  const counting = agent({
    name: "Counting",
    description: "Counts its runs.",
    version: "1.0.0",
    async run() {
      runs += 1;
      return "done";
    },
  });
  server = createServer(counting, {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    limits: { maxBodyBytes: LIMIT },
    outgoing: { http: true, allow: ["loopback"] },
  });
  ({ url } = await server.listen());
  session = await openSession(url);
});
afterAll(async () => {
  session.destroy();
  await server.close();
});

describe("A request over HTTP/2 that must be refused", () => {
  it("is one of 160", () => {
    expect(HOSTILE_CALLS).toHaveLength(160);
    expect(new Set(HOSTILE_CALLS.map(({ name }) => name)).size).toBe(HOSTILE_CALLS.length);
  });

  it.each(HOSTILE_CALLS)("gets the right status: $name", async ({ path, headers, body, expected }) => {
    const answer = await rawCall(session, { path, ...(headers && { headers }), ...(body && { body }) });
    expect("http" in expected ? { http: answer.http } : { http: answer.http, grpc: answer.grpc }).toEqual(
      "http" in expected ? expected : { http: GRPC_HTTP, ...expected },
    );
    if ("grpc" in expected) expect(answer.message).not.toBe("");
    expect(runs).toBe(0);
  });

  it("may be reset by its caller at any time, and by the loss of its connection", async () => {
    const other = await openSession(url);
    for (const delay of [0, 1, 2, 5, 10]) {
      const path = `/${SERVICE_1_0}/GetTask`;
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
      const unfinished = other.request(headers, { endStream: false });
      const finished = other.request(headers, { endStream: false });
      for (const stream of [unfinished, finished]) stream.on("error", () => undefined);
      finished.end(VALID);
      await sleep(delay);
      for (const stream of [unfinished, finished]) stream.close(constants.NGHTTP2_CANCEL);
    }
    other
      .request({ ":method": "POST", ":path": `/${SERVICE_1_0}/GetTask` }, { endStream: false })
      .on("error", () => undefined);
    await sleep(5);
    other.destroy();
    await sleep(20);
    expect(runs).toBe(0);
  });

  it("leaves the connection and the server as they were: the unbroken request works", async () => {
    expect(await rawCall(session, { path: `/${SERVICE_1_0}/SendMessage`, body: VALID })).toMatchObject({ grpc: 0 });
    expect(runs).toBe(1);
  });
});
