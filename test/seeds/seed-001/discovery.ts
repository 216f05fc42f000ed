import { request } from "node:https";
import { A2AError, agent, type ServerOptions } from "palaver";
import { connect, RemoteError } from "palaver/client";
import { expect, it } from "vitest";
import { createAuthority } from "../../../src/platform/test/certificate-authority.ts";
import { SERVERS } from "../../remote-peers/servers.ts";
import { at, get } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { serveAgents, serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

it(
  seed.example(
    "4.2. Server Identity Verification",
    "the client sends nothing to a server with an untrusted certificate",
  ),
  async () => {
    const authority = createAuthority("Authority");
    let calls = 0;
    const on = { call: () => void calls++ };
    const tls = authority.issue({ commonName: "localhost" });
    await using testServer = await serveScript(async () => "done", {}, { tls, on });
    const trusting = await new Promise((resolve, reject) => {
      request(`${testServer.url}/.well-known/agent.json`, { ca: authority.cert }, (response) =>
        resolve(response.resume().statusCode),
      )
        .on("error", reject)
        .end();
    });
    expect(trusting).toBe(200);
    const url = `${testServer.url}/`;
    const card = { name: "A", version: "1", protocolVersion: "0.3.0", preferredTransport: "JSONRPC", url };
    const options = { retry: { attempts: 1 } };
    await expect(connect(testServer.url, options)).rejects.toBeInstanceOf(RemoteError);
    const configured = await connect({ ...card, capabilities: {}, skills: [] }, options);
    await expect(configured.send("Hello")).rejects.toMatchObject({ name: "RemoteError", code: "network" });
    expect(calls).toBe(0);
  },
);

it(
  seed.example(
    "5.2. Discovery Mechanisms",
    "an agent is found by its domain, by the URL of its card, and by the card itself, on this server and on official servers",
  ),
  async () => {
    const answered = async (where: string | object) => {
      const sent = await (await connect(where, { poll: { first: 5, most: 20 } })).send("Hello");
      return sent.kind === "task" ? sent.task.status.state : sent.kind;
    };
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "done", {}, options);
      const cardUrl = `${testServer.url}/.well-known/agent.json`;
      const { json } = await get(cardUrl);
      for (const where of [testServer.url, cardUrl, json as object]) expect(await answered(where)).toBe("completed");
    }
    for (const line of SERVERS) {
      const official = await line.start({ binding: "JSONRPC" });
      try {
        const path = line.protocol === "0.2" ? "agent.json" : "agent-card.json";
        const cardUrl = `${official.url}/.well-known/${path}`;
        const { json } = await get(cardUrl);
        for (const where of [official.url, cardUrl, json as object])
          expect(await answered(where), line.protocol).toBe("completed");
      } finally {
        await official.close();
      }
    }
  },
);

it(
  seed.example("5.4. Security of Agent Cards", "a protected card is returned only to authorised callers"),
  async () => {
    const issuer = await createIssuer();
    const security = { schemes: { bearer: issuer.verifier }, cards: "private" } as const;
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "done", {}, { ...options, security });
      for (const path of ["agent.json", "agent-card.json"]) {
        const url = `${testServer.url}/.well-known/${path}`;
        const hidden = await get(url);
        expect([hidden.status, hidden.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="palaver"']);
        expect(hidden.text).not.toContain("Scripted");
        const shown = await get(url, await issuer.bearer("alice"));
        expect([shown.status, at(shown.json, "name")]).toEqual([200, "Scripted"]);
        expect(shown.headers.get("cache-control")).toMatch(/^private/);
      }
    }
  },
);

it(
  seed.example(
    "9.1. Fetching Authenticated Extended Agent Card › 2 and 3 credentials",
    "the client sends the credentials that the public card requires, and receives the extended card",
  ),
  async () => {
    const issuer = await createIssuer();
    const more = { extendedCard: { description: "There is more." } };
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "done", more, {
        ...options,
        security: { schemes: { google: issuer.verifier } },
      });
      const { authorization } = await issuer.bearer("alice");
      const bearer = authorization.replace("Bearer ", "");
      const known = await connect(testServer.url, { credentials: { bearer } });
      expect(known.card.description).toBe("Does as its script says.");
      expect((await known.extendedCard()).description).toBe("There is more.");
      const stranger = await connect(testServer.url, { retry: { attempts: 1 } });
      await expect(stranger.extendedCard()).rejects.toMatchObject({ code: "unauthenticated" });
    }
  },
);

it(
  seed.example("7.10. agent/authenticatedExtendedCard › 5xx", "an extended card whose function throws is a 5xx error"),
  async () => {
    const broken = agent({
      name: "Broken",
      description: "Has no luck.",
      version: "1",
      run: async () => "done",
      extendedCard() {
        throw new Error("password=1234");
      },
    });
    for (const options of EITHER_WAY) {
      const authenticate: ServerOptions["authenticate"] = ({ headers }) => {
        if (headers.get("authorization") === null) throw new A2AError("unauthenticated", "Say who you are");
        return { id: "alice", anonymous: false };
      };
      await using testServer = await serveAgents(broken, { ...options, authenticate });
      const url = `${testServer.url}/agent/authenticatedExtendedCard`;
      const answer = await get(url, { authorization: "Bearer alice" });
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain("1234");
    }
  },
);
