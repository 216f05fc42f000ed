import type { ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { agent, createServer, type Server } from "palaver";
import { connect } from "palaver/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadGrpcDialects } from "../../src/wire/grpc.ts";
import { openSession, rawCall, SERVICE_0_3, SERVICE_1_0 } from "./call.ts";
import { framed, message, number, text } from "./protobuf.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const declare = (id: string) => ({ id, name: id, description: `The agent ${id}.`, version: "1.0.0" });
const first = agent({ ...declare("first"), run: async (task) => `first: ${task.text}` });
const second = agent({ ...declare("second"), run: async (task) => `second: ${task.text}` });
const slow = agent({
  ...declare("slow"),
  async *run(task) {
    yield "begun";
    await sleep(300, undefined, { signal: task.signal });
    yield ", done";
  },
});
const long = agent({ ...declare("long"), run: async () => "long ".repeat(2000) });

let server: Server;
let url: string;
let session: ClientHttp2Session;
const types = await loadGrpcDialects();
beforeAll(async () => {
  server = createServer([first, second, slow, long], { port: 0, store: "memory:", logger: QUIET, drainTimeout: 0 });
  ({ url } = await server.listen());
  session = await openSession(url);
});
afterAll(async () => {
  session.destroy();
  await server.close();
});

/** A send of 1.0 to an agent. */
const send = (agentId: string, said = "hello"): Uint8Array =>
  framed(
    Buffer.concat([text(1, `agents/${agentId}`), message(2, text(1, said), number(4, 1), message(5, text(1, said)))]),
  );

/** The only message of an answer, as ProtoJSON. */
const decode = (type: string, body: Buffer): unknown => types.type(type).decode(body.subarray(5));

describe("Several agents on one gRPC port", () => {
  it("are named by the tenant of 1.0, which their cards list", async () => {
    for (const id of ["first", "second"]) {
      const client = await connect(`${url}/agents/${id}/`, { binding: "GRPC", version: "1.0" });
      expect(client.interface).toMatchObject({ tenant: `agents/${id}` });
      const sent = await client.send("hi");
      expect(sent.kind === "task" && sent.task.artifacts?.[0]?.parts).toEqual([{ text: `${id}: hi` }]);
    }
  });

  it("keep the tasks of each tenant of a caller apart", async () => {
    const acme = await connect(`${url}/agents/second/`, { binding: "GRPC", tenant: "agents/second/acme" });
    const other = await connect(`${url}/agents/second/`, { binding: "GRPC" });
    const sent = await acme.send("hi");
    const id = sent.kind === "task" ? sent.task.id : "";
    expect((await acme.task(id).get()).id).toBe(id);
    await expect(other.task(id).get()).rejects.toMatchObject({ code: "task-not-found" });
  });

  it("are named by the first label of the host name in 0.3, and default to the first agent", async () => {
    const body = framed(message(1, text(1, "m"), number(4, 1), message(5, text(1, "hi"))));
    const blocking = Buffer.concat([body.subarray(5), message(2, number(4, 1))]);
    for (const [host, expected] of [
      ["second.localhost", "second: hi"],
      ["localhost", "first: hi"],
      ["nobody.localhost", "first: hi"],
    ]) {
      const answer = await rawCall(session, {
        path: `/${SERVICE_0_3}/SendMessage`,
        headers: { ":authority": host },
        body: framed(blocking),
      });
      expect(JSON.stringify(decode("a2a.v1.SendMessageResponse", answer.body))).toContain(expected);
    }
  });
});

describe("A gRPC call", () => {
  it("with a deadline ends with DEADLINE_EXCEEDED, and its task goes on", async () => {
    const path = `/${SERVICE_1_0}/SendMessage`;
    const answer = await rawCall(session, { path, headers: { "grpc-timeout": "30m" }, body: send("slow", "unary") });
    expect(answer).toMatchObject({ http: 200, grpc: 4 });
    const stream = await rawCall(session, {
      path: `/${SERVICE_1_0}/SendStreamingMessage`,
      headers: { "grpc-timeout": "100m" },
      body: send("slow", "stream"),
    });
    expect(stream).toMatchObject({ http: 200, grpc: 4 });
    expect(stream.body.length).toBeGreaterThan(0);
    const client = await connect(`${url}/agents/slow/`);
    await expect
      .poll(async () => (await Array.fromAsync(client.tasks())).map(({ status }) => status.state), { timeout: 5000 })
      .toEqual(["completed", "completed"]);
  });

  it("that is compressed gets a compressed answer, if that is long", async () => {
    const zipped = framed(gzipSync(send("long").subarray(5)), { flag: 1 });
    const headers = { "grpc-encoding": "gzip" };
    const answer = await rawCall(session, { path: `/${SERVICE_1_0}/SendMessage`, headers, body: zipped });
    expect(answer).toMatchObject({ grpc: 0, headers: { "grpc-encoding": "gzip" } });
    expect(answer.body[0]).toBe(1);
    const json = types.type("lf.a2a.v1.SendMessageResponse").decode(gunzipSync(answer.body.subarray(5)));
    expect(JSON.stringify(json)).toContain("long long");
  });

  it("reports an error with its reason and its fields in the details", async () => {
    const { headers } = await rawCall(session, { path: `/${SERVICE_1_0}/GetTask`, body: framed(new Uint8Array()) });
    const bytes = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
    expect(types.type("google.rpc.Status").decode(bytes)).toMatchObject({
      code: 3,
      details: [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_PARAMS", domain: "a2a-protocol.org" },
        { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "id" }] },
      ],
    });
  });

  it("of 0.3 reports an error as status and text", async () => {
    const answer = await rawCall(session, { path: `/${SERVICE_0_3}/GetTask`, body: framed(text(1, "tasks/x")) });
    expect(answer).toMatchObject({ grpc: 5, message: "TaskNotFoundError: Task not found" });
    expect(answer.headers).not.toHaveProperty("grpc-status-details-bin");
  });
});

describe("Health checks", () => {
  const check = (service: string) =>
    rawCall(session, { path: "/grpc.health.v1.Health/Check", body: framed(text(1, service)) });

  it("report the server and each version as serving, and no other service", async () => {
    for (const service of ["", SERVICE_1_0, SERVICE_0_3]) {
      const answer = await check(service);
      expect(decode("grpc.health.v1.HealthCheckResponse", answer.body)).toEqual({ status: "SERVING" });
    }
    expect(await check("elsewhere.Service")).toMatchObject({ grpc: 5 });
  });

  it("can be watched", async () => {
    const stream = session.request(
      {
        ":method": "POST",
        ":path": "/grpc.health.v1.Health/Watch",
        "content-type": "application/grpc",
      },
      { endStream: false },
    );
    stream.end(framed(text(1, "")));
    for await (const chunk of stream) {
      expect(decode("grpc.health.v1.HealthCheckResponse", chunk)).toEqual({ status: "SERVING" });
      break;
    }
  });
});

describe("Reflection", () => {
  it.each(["v1", "v1alpha"])(
    "of %s lists the services and describes them, while the call stays open",
    async (version) => {
      const reflection = `grpc.reflection.${version}`;
      const path = `/${reflection}.ServerReflection/ServerReflectionInfo`;
      const stream = session.request(
        { ":method": "POST", ":path": path, "content-type": "application/grpc" },
        { endStream: false },
      );
      const ask = types.type(`${reflection}.ServerReflectionRequest`);
      const chunks = stream[Symbol.asyncIterator]();
      const answerTo = async (request: object): Promise<Record<string, unknown>> => {
        stream.write(framed(ask.encode(request)));
        let body = Buffer.alloc(0);
        do {
          body = Buffer.concat([body, (await chunks.next()).value]);
        } while (body.length < 5 + body.readUInt32BE(1));
        return decode(`${reflection}.ServerReflectionResponse`, body) as Record<string, unknown>;
      };
      const listed = await answerTo({ listServices: "" });
      expect(JSON.stringify(listed["listServicesResponse"])).toContain(SERVICE_1_0);
      const described = await answerTo({ fileContainingSymbol: `${SERVICE_1_0}.SendMessage` });
      expect(described["fileDescriptorResponse"]).toHaveProperty("fileDescriptorProto");
      expect(await answerTo({ fileContainingSymbol: "no.such.Type" })).toHaveProperty("errorResponse");
      stream.end();
    },
  );
});
