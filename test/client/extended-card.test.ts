import { exportJWK, FlattenedSign, generateKeyPair } from "jose";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/auth/canonical-json.ts";
import { connect } from "../../src/client/connect.ts";
import { discover } from "../../src/client/discovery/discover.ts";
import type { CardVerification } from "../../src/client/discovery/verify-card.ts";
import { IDEMPOTENT_SEND } from "../../src/protocol/extensions.ts";
import { json, rpc, ScriptedServer, wireTask } from "./lying-server.ts";

type Json = Record<string, unknown>;

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

let verify: CardVerification;
let signed: (card: Json) => Promise<Json>;
beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  verify = { jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] } };
  signed = async (card) => {
    const payload = new TextEncoder().encode(canonicalJson(card));
    const jws = await new FlattenedSign(payload).setProtectedHeader({ alg: "ES256", kid: "k" }).sign(privateKey);
    return { ...card, signatures: [{ protected: jws.protected, signature: jws.signature }] };
  };
});

function cardAt(url: string, changes: Json = {}): Json {
  return {
    name: "A",
    description: "Public.",
    version: "1",
    capabilities: { extendedAgentCard: true },
    skills: [{ id: "s", name: "S", description: "S.", tags: ["s"] }],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    ...changes,
  };
}

/** Serves one card to anonymous callers and another to authenticated callers. */
async function serve(shown: (url: string) => Json | Promise<Json>): Promise<string> {
  server = await ScriptedServer.start(async (response, request) => {
    if (request.body.method === "GetExtendedAgentCard") json(response, rpc(request, await shown(server?.url ?? "")));
    else json(response, rpc(request, { task: wireTask("COMPLETED") }));
  });
  return server.url;
}

describe("the extended card", () => {
  const capabilities = { extendedAgentCard: true, streaming: true, extensions: [{ uri: IDEMPOTENT_SEND }] };

  it("replaces the public card, and its declarations apply", async () => {
    const url = await serve((at) => cardAt(at, { description: "Known.", capabilities }));
    const agent = await connect(cardAt(url));
    expect([agent.card.description, agent.resendWindow]).toEqual(["Public.", 0]);
    expect((await agent.extendedCard()).description).toBe("Known.");
    expect(agent.card.description).toBe("Known.");
    expect(agent.resendWindow).toBe(Number.POSITIVE_INFINITY);
    for await (const _ of agent.stream("go"));
    expect(server?.received.at(-1)?.body.method).toBe("SendStreamingMessage");
  });

  it("is reduced to its signed fields if cards must be signed", async () => {
    const url = await serve(async (at) => ({ ...(await signed(cardAt(at, { description: "Known." }))) }));
    const agent = await connect(await signed(cardAt(url)), { verify });
    expect((await agent.extendedCard()).description).toBe("Known.");
    expect(agent.card.description).toBe("Known.");
  });

  it.each([
    ["is not signed", async (card: Json) => card],
    ["is signed as a different card", async (card: Json) => ({ ...(await signed(card)), description: "Forged." })],
    ["is not a card", async () => ({})],
  ])("is refused if cards must be signed and it %s; the public card stays in use", async (_, made) => {
    const url = await serve((at) => made(cardAt(at, { description: "Known." })));
    const agent = await connect(await signed(cardAt(url)), { verify });
    await expect(agent.extendedCard()).rejects.toMatchObject({ code: "invalid-signature" });
    expect(agent.card.description).toBe("Public.");
  });
});

describe("a card passed to connect", () => {
  it("must have a valid signature if cards must be signed, even if it looks verified already", async () => {
    const url = await serve((at) => cardAt(at));
    const { card } = await discover(cardAt(url));
    await expect(connect(card, { verify })).rejects.toMatchObject({ code: "invalid-signature" });
    expect((await connect(card)).card).toBe(card);
    const trusted = await discover(await signed(cardAt(url)), { verify });
    expect((await connect(trusted.card, { verify })).card).toBe(trusted.card);
  });
});
