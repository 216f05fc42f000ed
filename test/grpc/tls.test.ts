import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { promisify } from "node:util";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { ClientFactory as ClientFactory0_3 } from "a2a-sdk-v0_3/client";
import { GrpcTransportFactory as GrpcTransportFactory0_3 } from "a2a-sdk-v0_3/client/grpc";
import * as sdk from "a2a-sdk-v1";
import { ClientFactory } from "a2a-sdk-v1/client";
import { GrpcTransportFactory } from "a2a-sdk-v1/client/grpc";
import { agent, createServer, type Server, type ServerOptions } from "palaver";
import { apiKeys, mutualTls } from "palaver/auth";
import { afterEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../src/platform/test/certificate-authority.ts";
import { rawCall, SERVICE_1_0 } from "./call.ts";
import { framed, message, number, text } from "./protobuf.ts";
import { connectByReflection } from "./reflected-client.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const authority = createAuthority("Callers");
const own = authority.issue({ commonName: "server" });
const ada = authority.issue({ commonName: "ada" });
const CA = Buffer.from(authority.cert);
const who = agent({
  name: "Who",
  description: "Says who called.",
  version: "1.0.0",
  extendedCard: { description: "Says who called, to those who may ask." },
  run: async (task) => `You are ${task.caller.id}`,
});

let server: Server | undefined;
afterEach(() => server?.close());

async function listen(options: ServerOptions): Promise<string> {
  server = createServer(who, { port: 0, store: "memory:", logger: QUIET, drainTimeout: 0, ...options });
  return (await server.listen()).url;
}

/** The status and the text of an answer over HTTP/1. */
function getText(url: string, tls: object): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get(url, { ...tls, agent: false }, (response) => {
      const status = response.statusCode;
      void readText(response).then((body) => resolve({ status, body }), reject);
    }).on("error", reject);
  });
}

describe("TLS", () => {
  it("serves HTTP/1 and gRPC on one port, and gRPC callers are authenticated by their certificates", async () => {
    const url = await listen({
      tls: { ...own, clientCa: authority.cert },
      security: { schemes: { certificates: mutualTls({ idFrom: "commonName" }) } },
    });
    const tls = { ca: authority.cert, ...ada };
    expect(await getText(`${url}/healthz`, tls)).toMatchObject({ status: 200 });
    const session = connectHttp2(url, tls);
    const body = framed(message(2, text(1, "m"), number(4, 1), message(5, text(1, "who?"))));
    const answer = await rawCall(session, { path: `/${SERVICE_1_0}/SendMessage`, body });
    expect(answer).toMatchObject({ grpc: 0, headers: { "strict-transport-security": expect.any(String) } });
    expect(answer.body.toString()).toContain("You are certificates:ada");
    session.destroy();
  });

  it("accepts a client of @grpc/grpc-js with its certificate, and answers UNAUTHENTICATED without one", async () => {
    const url = await listen({
      tls: { ...own, clientCa: authority.cert },
      security: { schemes: { certificates: mutualTls({ idFrom: "commonName" }) } },
    });
    const target = new URL(url).host;
    const request = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "who?" }] } };
    const known = credentials.createSsl(CA, Buffer.from(ada.key), Buffer.from(ada.cert));
    const client = await connectByReflection({ target, credentials: known });
    const { task } = await client.call(`${SERVICE_1_0}/SendMessage`, request);
    expect(task.artifacts[0].parts).toEqual([{ text: "You are certificates:ada" }]);
    client.close();
    const unknown = await connectByReflection({ target, credentials: credentials.createSsl(CA) });
    await expect(unknown.call(`${SERVICE_1_0}/SendMessage`, request)).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    unknown.close();
  });
});

it("`palaver send --transport grpc` calls a server with TLS", async () => {
  const folder = await mkdtemp(join(tmpdir(), "palaver-tls-"));
  try {
    const file = join(folder, "ca.pem");
    await writeFile(file, authority.cert);
    const url = await listen({ tls: own, authenticate: () => ({ id: "anybody", anonymous: false }) });
    const args = [MAIN, "send", "who?", "-a", url, "--transport", "grpc", "--debug"];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toContain("You are anybody");
    expect(stderr).toContain("GRPC 1.0 at");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

describe("The official clients over gRPC and TLS", () => {
  const keys = apiKeys({
    name: "x-api-key",
    verify: async (key) => (key === "k" ? { id: "ada", scopes: [] } : undefined),
  });
  const withKey = credentials.createFromMetadataGenerator((_context, done) => {
    const metadata = new Metadata();
    metadata.set("x-api-key", "k");
    done(null, metadata);
  });
  const grpcChannelCredentials = credentials.combineChannelCredentials(credentials.createSsl(CA), withKey);

  /** Their cards, read over HTTP/1 with our certificate. */
  async function card(url: string, path: string): Promise<object> {
    return JSON.parse((await getText(`${url}${path}`, { ca: authority.cert })).body) as object;
  }

  it("send credentials, and read the extended card: 1.0", async () => {
    const url = await listen({ tls: own, security: { schemes: { keys } } });
    const factory = new ClientFactory({ transports: [new GrpcTransportFactory({ grpcChannelCredentials })] });
    const client = await factory.createFromAgentCard(
      sdk.AgentCard.fromJSON(await card(url, "/.well-known/agent-card.json")),
    );
    const parts = [{ text: "who?" }];
    const request = sdk.SendMessageRequest.fromJSON({ message: { messageId: "m", role: "ROLE_USER", parts } });
    const sent = await client.sendMessage(request);
    expect(JSON.stringify(sent)).toContain("You are keys:ada");
    expect(await client.getAgentCard()).toMatchObject({ description: "Says who called, to those who may ask." });
  });

  it("send credentials, and read the extended card: 0.3", async () => {
    const url = await listen({ tls: own, security: { schemes: { keys } } });
    const factory = new ClientFactory0_3({ transports: [new GrpcTransportFactory0_3({ grpcChannelCredentials })] });
    const found = await card(url, "/.well-known/agent.json");
    const client = await factory.createFromAgentCard(found as Parameters<typeof factory.createFromAgentCard>[0]);
    const sent = await client.sendMessage({
      message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "who?" }] },
      configuration: { blocking: true },
    });
    expect(JSON.stringify(sent)).toContain("You are keys:ada");
    expect(await client.getAgentCard()).toMatchObject({ description: "Says who called, to those who may ask." });
  });
});
