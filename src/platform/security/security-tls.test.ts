import { request } from "node:https";
import { connect } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { apiKeys } from "../../auth/verify/api-keys.ts";
import { mutualTls } from "../../auth/verify/mutual-tls.ts";
import { agent } from "../../engine/agent/agent.ts";
import { SILENT_LOGGER } from "../../internal/logger.ts";
import { createServer, type Server } from "../create-server.ts";
import type { ServerOptions } from "../settings/settings.ts";
import { createAuthority, type Issued } from "../test/certificate-authority.ts";

const authority = createAuthority("Palaver test authority");
const clients = createAuthority("Callers");
const strangers = createAuthority("Callers");
const own = authority.issue({ commonName: "localhost" });
const whoAmI = agent({
  name: "Who",
  description: "Returns the caller.",
  version: "1.0.0",
  run: async ({ caller }) => caller.id,
});

const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function listen(options: ServerOptions): Promise<string> {
  const server = createServer(whoAmI, {
    store: "memory:",
    port: 0,
    drainTimeout: 0,
    logger: SILENT_LOGGER,
    ...options,
  });
  servers.push(server);
  return (await server.listen()).url;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

function get(url: string, path: string, options: Partial<Issued> & { readonly headers?: Record<string, string> } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    request(url + path, { ca: authority.cert, agent: false, ...options }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    })
      .on("error", reject)
      .end();
  });
}

const CARD = "/.well-known/agent-card.json";

describe("A server with a certificate", () => {
  it("serves HTTPS, with https URLs in its cards and Strict-Transport-Security", async () => {
    const url = await listen({ tls: own });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { status, headers, body } = await get(url, CARD);
    expect(status).toBe(200);
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(body).toContain(`"url":"${url}`);
    await expect(fetch(url.replace("https:", "http:") + CARD)).rejects.toThrow();
  });

  it("supports TLS 1.2 and later only", async () => {
    const url = new URL(await listen({ tls: own }));
    const attempt = (maxVersion: "TLSv1.1" | "TLSv1.2"): Promise<string | null> =>
      new Promise((resolve, reject) => {
        const port = Number(url.port);
        const ciphers = "DEFAULT@SECLEVEL=0";
        const options = {
          host: "127.0.0.1",
          port,
          ca: authority.cert,
          minVersion: "TLSv1",
          maxVersion,
          ciphers,
        } as const;
        const socket = connect(options, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
        socket.on("error", reject);
      });
    expect(await attempt("TLSv1.2")).toBe("TLSv1.2");
    await expect(attempt("TLSv1.1")).rejects.toThrow();
  });

  it.each<[string, Partial<ServerOptions["tls"]>, RegExp]>([
    ["a missing file", { cert: "/nowhere/cert.pem" }, /certificate cannot be read from \/nowhere\/cert\.pem/],
    ["an invalid certificate", { cert: own.key }, /certificate is not valid PEM/],
    ["an invalid key", { key: own.cert }, /key is not valid PEM/],
    [
      "the key of another certificate",
      { key: authority.issue({ commonName: "x" }).key },
      /key does not belong to the certificate/,
    ],
    ["an invalid client authority", { clientCa: "-----BEGIN x" }, /authority is not valid PEM/],
  ])("does not start with %s", (_, change, message) => {
    expect(() => createServer(whoAmI, { store: "memory:", tls: { ...own, ...change } })).toThrow(message);
  });
});

describe("A server that requests client certificates", () => {
  const ada = clients.issue({ commonName: "ada", organization: "Acme, Inc.", uri: "spiffe://acme/ada" });
  const key = apiKeys({ verify: (value) => (value === "k" ? { id: "ci", scopes: [] } : undefined) });
  const send = async (url: string, options: Partial<Issued> & { readonly headers?: Record<string, string> }) =>
    get(url, "/tasks", options);

  it("accepts only valid certificates of the trusted authority", async () => {
    const principals: string[] = [];
    const url = await listen({
      tls: { ...own, clientCa: clients.cert },
      security: { schemes: { mtls: mutualTls(), key } },
      audit: ({ principal }) => void principals.push(principal),
    });
    expect((await send(url, ada)).status).toBe(200);
    expect((await send(url, { headers: { "x-api-key": "k" } })).status).toBe(200);
    const refused = await send(url, {});
    expect(refused.status).toBe(401);
    expect(refused.headers["www-authenticate"]).toContain('MutualTLS realm="palaver"');
    expect((await send(url, strangers.issue({ commonName: "ada" }))).status).toBe(401);
    expect((await send(url, clients.issue({ commonName: "old", expired: true }))).status).toBe(401);
    expect(principals).toEqual(["mtls:O=Acme\\, Inc.,CN=ada", "key:ci", "anonymous", "anonymous", "anonymous"]);
  });

  it("can take the caller's id from an alternative name", async () => {
    const principals: string[] = [];
    const uriOf = mutualTls({
      idFrom: ({ alternativeNames }) => alternativeNames.find((name) => name.startsWith("URI:"))?.slice(4),
    });
    const url = await listen({
      tls: { ...own, clientCa: clients.cert },
      security: { schemes: { mtls: uriOf } },
      audit: ({ principal }) => void principals.push(principal),
    });
    expect((await send(url, ada)).status).toBe(200);
    expect((await send(url, clients.issue({ commonName: "ada" }))).status).toBe(401);
    expect(principals[0]).toBe("mtls:spiffe://acme/ada");
  });

  it("does not start without a client authority", async () => {
    const security = { schemes: { mtls: mutualTls() } };
    for (const tls of [undefined, own]) {
      const server = createServer(whoAmI, { store: "memory:", security, tls, logger: SILENT_LOGGER });
      servers.push(server);
      await expect(server.listen()).rejects.toThrow(/needs client certificates[\s\S]*--tls-client-ca/);
    }
  });
});
