import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type Received, wireTask } from "../scripted-agent.ts";
import { fieldsOf } from "../terminal.ts";
import { openSetting } from "./setting.ts";

const servers: HttpServer[] = [];

const { script, terminal, world } = openSetting();
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const done = () => ({ result: wireTask("t", "COMPLETED") });
const bearerCard = {
  securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { token: { list: [] } } }],
};
const keyCard = (location: string, name: string) => ({
  securitySchemes: { key: { apiKeySecurityScheme: { location, name } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
});

describe("card get", () => {
  it("A2ACLI_CARD_GET_001 reads a card by host, URL or file, and selects an interface", async () => {
    const agent = await script({ reply: done });
    const host = new URL(agent.url).host;
    const card = JSON.parse((await terminal.run(["card", "get", "-o", "json", "-a", agent.url])).stdout);
    expect(card).toMatchObject({ name: "Scripted", supportedInterfaces: [{ protocolBinding: "JSONRPC" }] });
    const file = join(terminal.folder, "card.json");
    writeFileSync(file, JSON.stringify(card));
    const references = [
      host,
      `${agent.url}/.well-known/agent-card.json`,
      pathToFileURL(file).href,
      file,
      "./card.json",
      "card.json",
    ];
    for (const reference of references) {
      const { code, stdout } = await terminal.run(["card", "get", "-a", reference]);
      expect(code, reference).toBe(0);
      expect(fieldsOf(stdout), reference).toMatchObject({
        Name: "Scripted",
        Streaming: "no",
        "Push notifications": "no",
        Skill: "s: S: Does it.",
        "Chosen interface": expect.stringContaining(`${agent.url}/rpc`),
      });
      expect((await terminal.run(["task", "get", "t", "-a", reference])).code).toBe(0);
    }
  });

  it("A2ACLI_CARD_GET_001 shows the agent's identity, skills and security schemes", async () => {
    const agent = await script({
      card: { ...bearerCard, provider: { organization: "Us", url: "https://us.example" } },
      reply: done,
    });
    const { stdout } = await terminal.run(["card", "get", "--verbose", "-a", agent.url]);
    expect(fieldsOf(stdout)).toMatchObject({
      Provider: "Us (https://us.example)",
      "Security scheme": "token (HTTP Bearer)",
      Requires: "token",
      "Input modes": "text/plain",
    });
  });

  it("A2ACLI_CARD_GET_002 reports the errors of a card with --validate", async () => {
    const good = await terminal.run(["card", "get", "--validate", "-a", world.url]);
    expect(good.code).toBe(0);
    expect(good.stderr).toContain("The card is valid.");
    writeFileSync(
      join(terminal.folder, "bad.json"),
      JSON.stringify({ name: 7, skills: "none", supportedInterfaces: [] }),
    );
    const bad = await terminal.run(["card", "get", "--validate", "-o", "json", "-a", "./bad.json"]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout).error.code).toBe("A2ACLI_ERR_CARD_INVALID");
    expect(bad.stderr).toMatch(/Warning: /);
  });
});

describe("credentials", () => {
  const shown = async (
    card: object,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Received> => {
    const agent = await script({ card, reply: done });
    const { code, stderr } = await terminal.run(["task", "get", "t", ...argv, "-a", agent.url], { env });
    expect(code, stderr).toBe(0);
    expect(agent.cardRequests[0]).not.toHaveProperty("authorization");
    const [call] = agent.received;
    if (call === undefined) throw new Error("No request was received.");
    return call;
  };

  it("A2ACLI_AUTH_001 sends credentials where the card declares them: header, query or cookie", async () => {
    expect((await shown(bearerCard, ["--bearer", "to-ken"])).headers["authorization"]).toBe("Bearer to-ken");
    expect((await shown(keyCard("header", "X-Key"), ["--api-key", "k-e-y"])).headers["x-key"]).toBe("k-e-y");
    expect((await shown(keyCard("query", "key"), ["--api-key", "k-e-y"])).url).toContain("key=k-e-y");
    expect((await shown(keyCard("cookie", "sid"), ["--api-key", "k-e-y"])).headers["cookie"]).toContain("sid=k-e-y");
  });

  it("A2ACLI_AUTH_001 sends service parameters as headers of every request, separate from credentials", async () => {
    const call = await shown({}, ["--svc-param", "x-trace-id:abc", "--svc-param", "x-b: c:d"]);
    expect(call.headers).toMatchObject({ "x-trace-id": "abc", "x-b": "c:d" });
    const { stdout } = await terminal.run(["send", "--help"]);
    expect(/--svc-param[^\n]*/.exec(stdout)?.[0]).not.toMatch(/auth|credential|token/i);
    expect(await terminal.run(["send", "x", "--svc-param", "nonsense", "-a", world.url])).toMatchObject({ code: 2 });
  });

  it("A2ACLI_AUTH_002 reads credentials from environment variables; a flag takes precedence; help explains why", async () => {
    const env = { A2ACLI_BEARER: "from-environment", A2ACLI_API_KEY: "key-from-environment" };
    expect((await shown(bearerCard, [], env)).headers["authorization"]).toBe("Bearer from-environment");
    expect((await shown(bearerCard, ["--bearer", "typed"], env)).headers["authorization"]).toBe("Bearer typed");
    expect((await shown(keyCard("header", "X-Key"), [], env)).headers["x-key"]).toBe("key-from-environment");
    const { stdout } = await terminal.run(["send", "--help"]);
    expect(stdout).toMatch(
      /Other users of this machine can see tokens and keys on a command line, and shells keep them/,
    );
  });

  it("A2ACLI_AUTH_003 warns about credentials if certificates are not verified", async () => {
    const agent = await script({ card: bearerCard, reply: done });
    const argv = ["task", "get", "t", "-a", agent.url];
    const secret = await terminal.run([...argv, "--insecure", "--bearer", "to-ken"]);
    expect(secret.stderr).toMatch(/Warning: TLS certificates are not verified/);
    expect(secret.stderr).toMatch(/Warning: SECURITY: credentials are sent/);
    expect(terminal.certificatesTrusted).toBe(1);
    const verified = await terminal.run([...argv, "--bearer", "to-ken"]);
    expect(verified.stderr).toBe("");
    expect(terminal.certificatesTrusted).toBe(1);
  });

  it("A2ACLI_AUTH_004 never prints credentials in diagnostics", async () => {
    const agent = await script({
      card: { securitySchemes: { ...bearerCard.securitySchemes, ...keyCard("query", "key").securitySchemes } },
      reply: ({ headers, url }) => ({
        error: { code: -32603, message: `I saw ${headers["authorization"]} at ${url}` },
      }),
    });
    const secrets = ["bearer-secret", "key-secret", "parameter-secret"];
    const all = ["--bearer", secrets[0] ?? "", "--svc-param", `x-custom:${secrets[2]}`, "--debug", "--verbose"];
    for (const argv of [all, ["--api-key", secrets[1] ?? "", "--debug", "--verbose"]]) {
      for (const format of ["text", "json"]) {
        const { code, stdout, stderr } = await terminal.run([
          "task",
          "get",
          "t",
          "-o",
          format,
          ...argv,
          "-a",
          agent.url,
        ]);
        expect(code).toBe(1);
        for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
        expect(stderr).toContain("[redacted]");
      }
    }
    const { stdout } = await terminal.run(["config", "show", "--bearer", secrets[0] ?? ""]);
    expect(stdout).not.toContain(secrets[0]);
  });
});

describe("auth login", () => {
  /** Starts an authorization server, and an agent that requires its tokens. */
  async function protectedAgent() {
    const asked: URLSearchParams[] = [];
    const basic: (string | undefined)[] = [];
    let pending = 2;
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const form = new URLSearchParams(body);
      asked.push(form);
      basic.push(request.headers.authorization);
      const send = (status: number, json: object) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
      if (request.url === "/device") {
        return send(200, {
          device_code: "device-secret",
          user_code: "WDJB-MJHT",
          verification_uri: "https://login.example/device",
          expires_in: 60,
          interval: 0.01,
        });
      }
      if (form.get("grant_type")?.endsWith("device_code") === true && pending-- > 0) {
        return send(400, { error: "authorization_pending" });
      }
      if (form.get("grant_type") === "refresh_token")
        return send(200, { access_token: "renewed-token", expires_in: 3600 });
      return send(200, {
        access_token: "issued-token",
        refresh_token: "refresh-secret",
        token_type: "Bearer",
        expires_in: 3600,
      });
    };
    const server = createServer((request, response) => void answer(request, response));
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const flows = {
      deviceCode: { deviceAuthorizationUrl: `${base}/device`, tokenUrl: `${base}/token`, scopes: { talk: "Talk." } },
    };
    const other = { clientCredentials: { tokenUrl: `${base}/token`, scopes: { talk: "Talk." } } };
    const agent = await script({
      card: {
        securitySchemes: {
          person: { oauth2SecurityScheme: { flows } },
          robot: { oauth2SecurityScheme: { flows: other } },
        },
        securityRequirements: [{ schemes: { person: { list: ["talk"] } } }, { schemes: { robot: { list: ["talk"] } } }],
      },
      reply: ({ headers }) =>
        /^Bearer (issued|renewed)-token$/.test(headers.authorization ?? "") ? done() : { status: 401 },
    });
    return { agent, asked, basic };
  }

  it("A2ACLI_AUTH_005 gets a token with a device code", async () => {
    const { agent, asked } = await protectedAgent();
    expect((await terminal.run(["task", "get", "t", "-a", agent.url])).code).toBe(4);
    const { code, stdout, stderr } = await terminal.run(["auth", "login", "--client-id", "me", "-a", agent.url]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("https://login.example/device");
    expect(stderr).toContain("WDJB-MJHT");
    expect(fieldsOf(stdout)).toMatchObject({ Flow: "device-code", Agent: agent.url });
    expect(asked.at(-1)?.get("device_code")).toBe("device-secret");
    expect(stdout + stderr).not.toMatch(/issued-token|refresh-secret|device-secret/);
    expect((await terminal.run(["task", "get", "t", "-a", agent.url])).code).toBe(0);
  });

  it("A2ACLI_AUTH_006 gets a token with client credentials", async () => {
    const { agent, asked, basic } = await protectedAgent();
    const argv = ["auth", "login", "--client-id", "robot", "--flow", "client-credentials", "-a", agent.url];
    expect((await terminal.run(argv)).code).toBe(2);
    const { code, stdout, stderr } = await terminal.run(argv, { env: { A2ACLI_CLIENT_SECRET: "robot-secret" } });
    expect(code, stderr).toBe(0);
    expect(asked.at(-1)?.get("grant_type")).toBe("client_credentials");
    expect(basic.at(-1) ?? asked.at(-1)?.get("client_secret")).toBeTruthy();
    expect(stdout + stderr).not.toMatch(/robot-secret|issued-token/);
    expect((await terminal.run(["task", "get", "t", "-a", agent.url])).code).toBe(0);
  });

  it("A2ACLI_AUTH_007 stores the token readable only by the user, renews it, and sends it only to that agent", async () => {
    const { agent } = await protectedAgent();
    await terminal.run(["auth", "login", "--client-id", "me", "-a", agent.url]);
    const path = join(terminal.folder, ".config", "a2a-cli", "tokens.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const stranger = await script({ card: bearerCard, reply: done });
    await terminal.run(["task", "get", "t", "-a", stranger.url]);
    expect(stranger.received[0]?.headers).not.toHaveProperty("authorization");
    // Moves the expiry back by an hour.
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"expiresAt": \d+/g, '"expiresAt": 1000'));
    expect((await terminal.run(["task", "get", "t", "-a", agent.url])).code).toBe(0);
    expect(agent.received.at(-1)?.headers["authorization"]).toBe("Bearer renewed-token");
    expect(readFileSync(path, "utf8")).toContain("renewed-token");
    chmodSync(path, 0o644);
    const open = await terminal.run(["task", "get", "t", "-a", agent.url]);
    expect(open.code).toBe(4);
    expect(open.stderr).toContain(`chmod 600 ${path}`);
    chmodSync(path, 0o600);
    await terminal.run(["auth", "logout", "-a", agent.url]);
    expect((await terminal.run(["task", "get", "t", "-a", agent.url])).code).toBe(4);
  });
});

describe("transports and versions", () => {
  const both = (first: string, second: string) => ({
    supportedInterfaces: [first, second].map((protocolBinding) => ({
      url: protocolBinding === "JSONRPC" ? "BASE/rpc" : "BASE",
      protocolBinding,
      protocolVersion: "1.0",
    })),
  });
  const chosen = async (card: object, ...argv: string[]): Promise<string | undefined> => {
    const agent = await script({ card, reply: done });
    return fieldsOf((await terminal.run(["card", "get", ...argv, "-a", agent.url])).stdout)["Chosen interface"];
  };

  it("A2ACLI_TX_001 selects the interface in the order of the card", async () => {
    expect(await chosen(both("JSONRPC", "HTTP+JSON"))).toMatch(/^JSONRPC /);
    expect(await chosen(both("HTTP+JSON", "JSONRPC"))).toMatch(/^HTTP\+JSON /);
  });

  it("A2ACLI_TX_002 selects the first supported interface; --transport is an ordered list of preferences", async () => {
    expect(await chosen(both("urn:example:carrier-pigeon", "HTTP+JSON"))).toMatch(/^HTTP\+JSON /);
    const card = both("JSONRPC", "HTTP+JSON");
    expect(await chosen(card, "--transport", "HTTP+JSON")).toMatch(/^HTTP\+JSON /);
    expect(await chosen(card, "--transport", "grpc", "--transport", "rest")).toMatch(/^HTTP\+JSON /);
    expect(await chosen(card, "--transport", "jsonrpc", "--transport", "rest")).toMatch(/^JSONRPC /);
    expect(await chosen(card, "--transport", "grpc")).toMatch(/^JSONRPC /);
  });

  it("A2ACLI_TX_003 sends the tenant of the selected interface in every request, and none if the card has none", async () => {
    const way = { url: "BASE/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" };
    const named = await script({ card: { supportedInterfaces: [{ ...way, tenant: "acme" }] }, reply: done });
    const unnamed = await script({ card: { supportedInterfaces: [way] }, reply: done });
    for (const { url } of [named, unnamed]) {
      for (const verb of ["get", "cancel"]) await terminal.run(["task", verb, "t", "-a", url]);
      await terminal.run(["send", "x", "-a", url]);
      await terminal.run(["task", "list", "-a", url]);
    }
    expect(named.received.length).toBeGreaterThanOrEqual(4);
    for (const { params } of named.received) expect(params.tenant).toBe("acme");
    for (const { params } of unnamed.received) expect(params).not.toHaveProperty("tenant");
  });

  it("A2ACLI_TX_004 works over at least two bindings", async () => {
    for (const transport of ["jsonrpc", "rest"]) {
      const argv = ["--transport", transport, "-a", `${world.url}/agents/echo`];
      const sent = await terminal.run(["send", "Hello", "--stream", "--debug", ...argv]);
      expect(sent.code).toBe(0);
      expect(sent.stdout).toContain("Text:\nHello\n\n");
      expect(sent.stderr).toMatch(transport === "rest" ? /> POST .*message:stream/ : /"method":"SendStreamingMessage"/);
      const { Task: id = "" } = fieldsOf(sent.stdout);
      expect(fieldsOf((await terminal.run(["task", "get", id, ...argv])).stdout)["Task"]).toBe(id);
    }
  });

  it("A2ACLI_VER_001 sends the version in every request: the agent's newest, also if that is before 1.0", async () => {
    const agent = await script({ reply: done });
    await terminal.run(["task", "get", "t", "-a", agent.url]);
    await terminal.run(["send", "x", "-a", agent.url]);
    for (const { headers } of agent.received) expect(headers["a2a-version"]).toBe("1.0");
    const old = {
      url: "BASE/rpc",
      preferredTransport: "JSONRPC",
      protocolVersion: "0.3.0",
      supportedInterfaces: null,
    };
    const legacy = await script({
      card: old,
      reply: () => ({ result: { kind: "task", id: "t", contextId: "c", status: { state: "completed" } } }),
    });
    for (const wanted of [[], ["--a2a-version", "0.3"], ["--a2a-version", "any"]]) {
      const { code, stdout } = await terminal.run(["task", "get", "t", ...wanted, "-a", legacy.url]);
      expect(code, wanted.join(" ")).toBe(0);
      expect(fieldsOf(stdout)["State"]).toBe("TASK_STATE_COMPLETED");
    }
    expect((await terminal.run(["send", "x", "-a", legacy.url])).code).toBe(0);
    expect((await terminal.run(["card", "get", "-a", legacy.url])).code).toBe(0);
    for (const { headers } of legacy.received) expect(headers["a2a-version"]).toBe("0.3");
    const both = [
      { url: "BASE/rpc", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      { url: "BASE/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ];
    const newer = await script({ card: { supportedInterfaces: both }, reply: done });
    await terminal.run(["task", "get", "t", "-a", newer.url]);
    for (const { headers } of newer.received) expect(headers["a2a-version"]).toBe("1.0");
    const missing = await terminal.run(["task", "get", "t", "--a2a-version", "7.0", "-o", "json", "-a", agent.url]);
    expect(JSON.parse(missing.stdout).error.code).toBe("VersionNotSupportedError");
  });
});

describe("settings", () => {
  const value = async (name: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { stdout } = await terminal.run(["config", "show", "-o", "json", ...argv], { env });
    const { settings }: { settings: { name: string; value: string | null; source: string }[] } = JSON.parse(stdout);
    const found = settings.find((setting) => setting.name === name);
    return [found?.value, found?.source];
  };

  it("A2ACLI_DEFAULT_001 has the defaults of the specification, and a flag to override each", async () => {
    const defaults = {
      transport: null,
      "a2a-version": null,
      wait: null,
      async: null,
      insecure: null,
      verbose: null,
    };
    for (const [name, expected] of Object.entries(defaults)) expect((await value(name, []))[0], name).toBe(expected);
    expect((await terminal.run(["config", "show"])).stdout).toContain("output: text (built in)\n");
    const flags = ["--output", "--transport", "--async", "--verbose", "--a2a-version", "--insecure"];
    const { stdout } = await terminal.run(["send", "--help"]);
    for (const flag of flags) expect(stdout).toContain(flag);
    const detail = async (...argv: string[]) => (await terminal.run(["send", "x", ...argv, "-a", world.url])).stdout;
    expect(await detail("--verbose")).toContain("History: user");
    expect(await detail()).not.toContain("History");
  });

  it("A2ACLI_CONFIG_001 stores settings in the standard folder, shows them read-only, and stores no session data", async () => {
    const folder = join(terminal.folder, ".config", "a2a-cli");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, ".env");
    writeFileSync(file, `A2ACLI_AGENT_CARD=${world.url}\nA2ACLI_BEARER=file-secret\n`, { mode: 0o644 });
    const before = readFileSync(file, "utf8");
    const { code, stdout, stderr } = await terminal.run(["config", "show"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`agent-card: ${world.url} (A2ACLI_AGENT_CARD in ${file})`);
    expect(stdout).not.toContain("file-secret");
    expect(stderr).toContain(`chmod 600 ${file}`);
    expect((await terminal.run(["send", "x"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(existsSync(join(folder, "tokens.json"))).toBe(false);
  });

  it("A2ACLI_CONFIG_002 reads settings from flag, environment, local file and global file, in this order", async () => {
    const global = join(terminal.folder, ".config", "a2a-cli");
    mkdirSync(global, { recursive: true });
    writeFileSync(join(global, ".env"), "A2ACLI_POLL_INTERVAL=5s\n");
    expect(await value("poll-interval", [])).toEqual(["5s", "global"]);
    writeFileSync(join(terminal.folder, ".env"), "A2ACLI_POLL_INTERVAL=4s\nOTHER=1\n");
    expect(await value("poll-interval", [])).toEqual(["4s", "local"]);
    const below = join(terminal.folder, "a", "b");
    mkdirSync(below, { recursive: true });
    const { stdout } = await terminal.run(["config", "show"], { context: { cwd: below } });
    expect(stdout).toContain("poll-interval: 4s");
    writeFileSync(
      join(terminal.folder, "agent.env"),
      "A2ACLI_POLL_INTERVAL=3s\nA2ACLI_AGENT_CARD=http://127.0.0.1:9\n",
    );
    expect(await value("poll-interval", ["--config", "agent.env"])).toEqual(["3s", "local"]);
    expect(await value("agent-card", ["--config", "agent.env"])).toEqual(["http://127.0.0.1:9", "local"]);
    const env = { A2ACLI_POLL_INTERVAL: "2500ms" };
    expect(await value("poll-interval", ["--config", "agent.env"], env)).toEqual(["2500ms", "environment"]);
    expect(await value("poll-interval", ["--poll-interval", "1s"], env)).toEqual(["1s", "flag"]);
    expect(await value("output", [], {})).toEqual(["json", "flag"]);
    // A file with an agent's settings is enough to call that agent.
    expect((await terminal.run(["card", "get", "--config", "agent.env"])).code).toBe(3);
    expect(await terminal.run(["config", "show", "--config", "missing.env"])).toMatchObject({ code: 2 });
    const wrong = await terminal.run(["send", "x", "-a", world.url], { env: { A2ACLI_OUTPUT: "yaml" } });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("A2ACLI_OUTPUT must be text or json") });
  });
});
