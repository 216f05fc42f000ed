import { status } from "@grpc/grpc-js";
import { agent, createServer, type ServerOptions } from "palaver";
import { apiKeys } from "palaver/auth";
import { describe, expect, it } from "vitest";
import { createIssuer } from "../seeds/issuer.ts";
import { SERVICE_1_0 } from "./call.ts";
import { type CallSettings, connectByReflection, type ReflectedClient } from "./reflected-client.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const EXTENSION = "https://example.org/extensions/needed";
const declared = { name: "Who", description: "Says who called.", version: "1.0.0" };
const who = agent({ ...declared, run: async (task) => `You are ${task.caller.id}` });
const needing = agent({ ...declared, extensions: [{ uri: EXTENSION, required: true }], run: async () => "done" });
const keys = apiKeys({
  name: "x-api-key",
  verify: async (key) => (key === "of ada" ? { id: "ada", scopes: [] } : undefined),
});

async function served(
  { agent: one = who, ...options }: ServerOptions & { readonly agent?: typeof who },
  use: (client: ReflectedClient) => Promise<void>,
): Promise<void> {
  const server = createServer(one, { port: 0, store: "memory:", logger: QUIET, drainTimeout: 0, ...options });
  const { url } = await server.listen();
  const client = await connectByReflection({ target: new URL(url).host });
  try {
    await use(client);
  } finally {
    client.close();
    await server.close();
  }
}

async function send(client: ReflectedClient, metadata?: CallSettings["metadata"]): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "who?" }] };
  const settings = metadata === undefined ? {} : { metadata };
  const { task } = await client.call(`${SERVICE_1_0}/SendMessage`, { message }, settings);
  return task.artifacts[0].parts[0].text;
}

describe("The metadata of a gRPC call", () => {
  it("holds an API key, and the trace that the audit log names", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const traces: (string | undefined)[] = [];
    const audit: ServerOptions["audit"] = (entry) => void traces.push(entry.traceId);
    await served({ security: { schemes: { keys } }, audit }, async (client) => {
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
      expect(await send(client, { "x-api-key": "of ada", traceparent })).toBe("You are keys:ada");
      expect(traces).toEqual([traceId]);
      await expect(send(client)).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
      await expect(send(client, { "x-api-key": "of bob" })).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    });
  });

  it("holds a token in `authorization`", async () => {
    const { verifier, bearer } = await createIssuer();
    await served({ security: { schemes: { tokens: verifier } } }, async (client) => {
      expect(await send(client, { ...(await bearer("ada")) })).toMatch(/^You are .*ada$/);
      const answer = send(client, { authorization: "Bearer nonsense" });
      await expect(answer).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    });
  });

  it("holds the version, and an unsupported one is refused", () =>
    served({}, async (client) => {
      expect(await send(client, { "a2a-version": "1.0" })).toBe("You are anonymous");
      await expect(send(client, { "a2a-version": "7.0" })).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
    }));

  it("holds the extensions of the caller, in one entry or in several", () =>
    served({ agent: needing }, async (client) => {
      await expect(send(client)).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
      const other = "https://example.org/extensions/other";
      expect(await send(client, { "a2a-extensions": [other, EXTENSION] })).toBe("done");
      expect(await send(client, { "a2a-extensions": `${other}, ${EXTENSION}` })).toBe("done");
    }));
});
