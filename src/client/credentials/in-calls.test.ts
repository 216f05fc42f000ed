import { describe, expect, it } from "vitest";
import { connect } from "../connect.ts";
import { type Answer, type Seen, served } from "../discovery/test/served.ts";
import type { CredentialSet } from "./contract.ts";

const BASE = "https://a.example";
const CARD = `${BASE}/.well-known/agent-card.json`;
const TOKEN = "https://id.example/token";

const card = {
  name: "A",
  version: "1",
  protocolVersion: "0.3.0",
  url: `${BASE}/rpc`,
  capabilities: {},
  securitySchemes: {
    oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: TOKEN, scopes: {} } } },
    key: { type: "apiKey", in: "query", name: "key" },
  },
  security: [{ oauth: [] }, { key: [] }],
};

/** An agent that accepts only the second token. */
function guarded(isKnown: (seen: Seen) => boolean): Answer {
  return (seen) => {
    if (!isKnown(seen))
      return Response.json({ error: "who?" }, { status: 401, headers: { "www-authenticate": "Bearer" } });
    const { id } = JSON.parse(seen.body);
    const message = { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "Hi" }] };
    return { jsonrpc: "2.0", id, result: message };
  };
}

function issuing(): Answer {
  let number = 0;
  return () => ({ access_token: `t${++number}`, token_type: "Bearer" });
}

const oauth2: CredentialSet = { oauth2: { clientId: "me", clientSecret: "hush-hush" } };

describe("credentials in calls", () => {
  it("are replaced once when the agent rejects them, and reused by later calls", async () => {
    const isKnown = ({ headers }: Seen): boolean => headers["authorization"] === "Bearer t2";
    const server = served({ [CARD]: card, [TOKEN]: issuing(), [`${BASE}/rpc`]: guarded(isKnown) });
    const agent = await connect(BASE, { fetch: server.fetch, credentials: oauth2 });
    expect(await agent.send("Hello")).toMatchObject({ kind: "message" });
    expect(await agent.send("Hello")).toMatchObject({ kind: "message" });
    expect(server.asked.slice(1)).toEqual([
      `POST ${TOKEN}`,
      `POST ${BASE}/rpc`,
      `POST ${TOKEN}`,
      `POST ${BASE}/rpc`,
      `POST ${BASE}/rpc`,
    ]);
  });

  it("fail the call when the agent rejects them twice", async () => {
    const server = served({ [CARD]: card, [TOKEN]: issuing(), [`${BASE}/rpc`]: guarded(() => false) });
    const agent = await connect(BASE, { fetch: server.fetch, credentials: oauth2 });
    await expect(agent.send("Hello")).rejects.toMatchObject({ code: "unauthenticated", remote: { httpStatus: 401 } });
    expect(server.asked.filter((asked) => asked === `POST ${BASE}/rpc`)).toHaveLength(2);
  });

  it("fail the call if no token can be obtained; the error does not contain the secret", async () => {
    const refused = Response.json({ error: "invalid_client", error_description: "not hush-hush" }, { status: 401 });
    const server = served({ [CARD]: card, [TOKEN]: refused, [`${BASE}/rpc`]: guarded(() => false) });
    const agent = await connect(BASE, { fetch: server.fetch, credentials: oauth2 });
    const error = await agent.send("Hello").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "no-credentials", message: expect.stringContaining("invalid_client, not …") });
  });

  it("are in the query if the card declares so, and errors do not contain them", async () => {
    const isKnown = ({ url }: Seen): boolean => url.endsWith("/rpc?key=hush");
    const server = served({ [CARD]: card, [`${BASE}/rpc`]: guarded(isKnown) });
    const agent = await connect(BASE, { fetch: server.fetch, credentials: { apiKey: "hush" } });
    expect(await agent.send("Hello")).toMatchObject({ kind: "message" });
    const failing = served({ [CARD]: card, [`${BASE}/rpc`]: new Error("ECONNRESET") });
    const other = await connect(BASE, {
      fetch: failing.fetch,
      credentials: { apiKey: "hush" },
      retry: { attempts: 1 },
    });
    const error = await other.send("Hello").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.not.stringContaining("hush") });
  });

  it("that do not meet the requirements fail the call before a request is sent", async () => {
    const server = served({ [CARD]: card });
    const connecting = connect(BASE, { fetch: server.fetch, credentials: { basic: { username: "u", password: "p" } } });
    await expect(connecting).rejects.toMatchObject({ code: "no-credentials" });
    expect(server.asked).toEqual([`GET ${CARD}`]);
  });

  it("are sent for the card if the server requires them there", async () => {
    const isKnown = ({ headers }: Seen): boolean => headers["authorization"] === "Bearer t";
    const { security: _none, ...open } = card;
    const server = served({
      [CARD]: (seen) => (isKnown(seen) ? { ...open, securitySchemes: {} } : new Response("", { status: 401 })),
      [`${BASE}/rpc`]: guarded(isKnown),
    });
    const agent = await connect(BASE, { fetch: server.fetch, credentials: { bearer: "t" } });
    expect(await agent.send("Hello")).toMatchObject({ kind: "message" });
  });
});
