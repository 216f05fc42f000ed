import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Agent } from "../engine/agent/agent.ts";
import { StoreError } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { agent } from "./agents/agent.ts";
import { createServer, type Server } from "./create-server.ts";
import type { ServerOptions } from "./settings/settings.ts";

const logged: string[] = [];
const logger = {
  debug() {},
  info() {},
  warn: (message: string) => void logged.push(message),
  error: (message: string) => void logged.push(message),
};

const shouter = agent({
  name: "Shouter",
  description: "Says it louder.",
  version: "1.0.0",
  async run(task) {
    return task.text.toUpperCase();
  },
});

/** Waits until it is aborted. */
const waiter = agent({
  name: "Waiter",
  description: "Waits.",
  version: "1.0.0",
  async *run(task) {
    yield "waiting";
    // The signal may be aborted already.
    if (!task.signal.aborted) await once(task.signal, "abort");
  },
});

const servers: Server[] = [];
const create = (options: ServerOptions = {}, agents = [shouter, waiter]): Server => {
  const server = createServer(agents, { store: "memory:", port: 0, logger, ...options });
  servers.push(server);
  return server;
};
afterEach(async () => {
  logged.length = 0;
  await Promise.allSettled(servers.splice(0).map((server) => server.close()));
});

function request(text: string, path = "/", method = "SendMessage"): Request {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  return new Request(`http://test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
  });
}

const COMPLETED = {
  result: { task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "HELLO" }] }] } },
};

describe("a server", () => {
  it("answers Request objects without a port, also before it has started", async () => {
    expect(await (await create().fetch(request("hello"))).json()).toMatchObject(COMPLETED);
  });

  it("works as a request handler of node:http", async () => {
    const http = createHttpServer(create().nodeHandler).listen(0, "127.0.0.1");
    await new Promise((resolve) => http.once("listening", resolve));
    const { port } = http.address() as AddressInfo;
    try {
      const response = await fetch(new Request(`http://127.0.0.1:${port}/`, request("hello")));
      expect(await response.json()).toMatchObject(COMPLETED);
    } finally {
      http.close();
    }
  });

  it("listens, and its cards contain that URL", async () => {
    const { url, port } = await create().listen();
    expect(port).toBeGreaterThan(0);
    const response = await fetch(new Request(`${url}/`, request("hello")));
    expect(await response.json()).toMatchObject(COMPLETED);
    const card: unknown = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    const { supportedInterfaces } = card as {
      supportedInterfaces: readonly { url: string; protocolBinding: string }[];
    };
    expect(supportedInterfaces.length).toBeGreaterThan(1);
    for (const reached of supportedInterfaces) {
      expect(reached.url.startsWith(reached.protocolBinding === "GRPC" ? `127.0.0.1:${port}` : url)).toBe(true);
    }
  });

  it("warns if it listens on all interfaces without a public URL", async () => {
    const authenticate = () => undefined;
    await create({ host: "0.0.0.0", publicUrl: "https://agents.example.org", authenticate }).listen();
    expect(logged).toEqual([]);
    await create({ host: "0.0.0.0", authenticate }).listen();
    expect(logged).toEqual([expect.stringMatching(/set the public URL/)]);
  });

  it("warns if it listens to other machines without authentication", async () => {
    await create({}).listen();
    expect(logged).toEqual([]);
    await create({ host: "0.0.0.0", publicUrl: "https://agents.example.org" }).listen();
    expect(logged).toEqual([expect.stringMatching(/Anyone who can reach this server may call its agents/)]);
  });

  it("does not warn if a trusted proxy sends the public URL", async () => {
    await create({ host: "0.0.0.0", trustedProxies: ["private"], authenticate: () => undefined }).listen();
    expect(logged).toEqual([]);
  });

  it("uses in its cards the public URL, else that of a trusted proxy, else localhost", async () => {
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "a.example", "x-forwarded-prefix": "/x" };
    const shown = async (options: ServerOptions): Promise<unknown> => {
      const { port, publicUrl } = await create({ host: "0.0.0.0", ...options }).listen();
      const address = `http://127.0.0.1:${port}/agents/waiter/.well-known/agent-card.json`;
      const card: unknown = await (await fetch(address, { headers: { ...forwarded, "a2a-version": "1.0" } })).json();
      const { supportedInterfaces } = card as {
        supportedInterfaces: readonly { url: string; protocolBinding: string }[];
      };
      return [publicUrl, supportedInterfaces[0]?.url].map((text) => text?.replace(String(port), "PORT"));
    };
    const publicUrl = "https://public.example";
    expect(await shown({})).toEqual(["http://localhost:PORT", "http://localhost:PORT/agents/waiter/"]);
    expect(await shown({ trustedProxies: ["loopback"] })).toEqual([
      "http://localhost:PORT",
      "https://a.example/x/agents/waiter/",
    ]);
    expect(await shown({ publicUrl, trustedProxies: ["loopback"] })).toEqual([
      publicUrl,
      `${publicUrl}/agents/waiter/`,
    ]);
  });

  it("serves cards in the configured style", async () => {
    const card = async (options: ServerOptions): Promise<unknown> =>
      (await create(options).fetch(new Request("http://test/.well-known/agent-card.json"))).json();
    expect(await card({})).toHaveProperty("url");
    expect(await card({ card: "strict" })).not.toHaveProperty("url");
  });

  it("serves cards that declare the same agent again when parsed, in every version", async () => {
    const authenticate = () => undefined;
    const skill = { id: "s", name: "S", description: "S.", tags: ["s"], security: [{ login: ["write"] }] };
    const flow = { tokenUrl: "https://id.example/token", scopes: { write: "Write." } };
    const declared = agent({
      name: "Secured",
      description: "Checks permissions.",
      version: "1.0.0",
      provider: { organization: "Acme", url: "https://acme.example" },
      extensions: [{ uri: "urn:a", params: { level: 1 } }],
      inputModes: ["text/plain"],
      outputModes: ["text/plain"],
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-Key" },
        login: { type: "oauth2", flows: { clientCredentials: flow } },
      },
      security: [{ key: [], login: ["write"] }, {}],
      skills: [skill],
      extendedCard: {},
      run: async () => "done",
    });
    const read = async (served: Agent, version: string): Promise<Record<string, unknown>> => {
      const headers = { "a2a-version": version };
      const url = "http://test/.well-known/agent-card.json";
      const response = await create({ authenticate }, [served]).fetch(new Request(url, { headers }));
      return (await response.json()) as Record<string, unknown>;
    };
    for (const version of ["1.0", "0.3", ""]) {
      const card = await read(declared, version);
      const again = agent({ card, extendedCard: {}, run: async () => "done" });
      expect(again.promises?.interfaces.length).toBeGreaterThan(0);
      expect(await read(again, version)).toEqual(card);
      expect(again).toMatchObject({
        securitySchemes: declared.securitySchemes,
        security: declared.security,
        skills: [skill],
      });
    }
  });

  it("allows web pages from the configured CORS origins", async () => {
    const ask = async (corsOrigins: readonly string[]): Promise<string | null> => {
      const asked = request("hello");
      asked.headers.set("origin", "https://page.example");
      return (await create({ corsOrigins }).fetch(asked)).headers.get("access-control-allow-origin");
    };
    expect(await ask([])).toBeNull();
    expect(await ask(["https://other.example"])).toBeNull();
    expect(await ask(["https://page.example"])).toBe("https://page.example");
  });

  it("passes the active extensions to agents", async () => {
    const extended = agent({
      name: "Extended",
      description: "Returns the active extensions.",
      version: "1.0.0",
      extensions: [{ uri: "urn:a" }, { uri: "urn:b" }],
      reply: (message, call) => (message.parts[0]?.text === "reply" ? [...call.extensions] : undefined),
      run: async (task) => [...task.extensions],
    });
    const server = create({}, [extended]);
    const ask = async (text: string): Promise<unknown> => {
      const asked = request(text);
      asked.headers.set("a2a-extensions", "urn:b, urn:c");
      return (await server.fetch(asked)).json();
    };
    expect(await ask("reply")).toMatchObject({ result: { message: { parts: [{ data: ["urn:b"] }] } } });
    expect(await ask("run")).toMatchObject({ result: { task: { artifacts: [{ parts: [{ data: ["urn:b"] }] }] } } });
  });

  it("can be closed twice, before or after it listens, and stops answering", async () => {
    const server = create();
    const { url } = await server.listen();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    await create().close();
  });

  it("refuses new messages while it drains, and ends open streams with a retry time", async () => {
    const server = create({ drainTimeout: 50 });
    const { url } = await server.listen();
    const stream = await fetch(new Request(`${url}/agents/waiter/`, request("go", "/", "SendStreamingMessage")));
    const reading = stream.text();
    const closing = server.close();
    const refused = await server.fetch(request("hello"));
    expect({ status: refused.status, retry: refused.headers.has("retry-after") }).toEqual({ status: 503, retry: true });
    expect((await server.fetch(new Request("http://test/readyz"))).status).toBe(503);
    await closing;
    expect(await reading).toMatch(/waiting[\s\S]*retry: ?1000/);
  });

  it("authenticates callers, transforms events, and notifies hooks of calls and events", async () => {
    const calls: unknown[] = [];
    const events: string[] = [];
    const server = create({
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody", anonymous: false }),
      on: { call: (record) => void calls.push(record), event: (event) => void events.push(event.kind) },
      transform: (event) =>
        event.kind === "artifact" ? { ...event, artifact: { ...event.artifact, parts: [{ text: "***" }] } } : event,
    });
    const asAda = request("hello");
    asAda.headers.set("x-user", "ada");
    const answer = await (await server.fetch(asAda)).json();
    expect(answer).toMatchObject({ result: { task: { artifacts: [{ parts: [{ text: "***" }] }] } } });
    expect(calls).toEqual([
      expect.objectContaining({ operation: "send", agent: "shouter", principal: { id: "ada", anonymous: false } }),
    ]);
    expect(events).toContain("artifact");
  });

  it("enforces the configured limits", async () => {
    const response = await create({ limits: { maxBodyBytes: 300 } }).fetch(request("x".repeat(1000)));
    expect(response.status).toBe(413);
  });
});

describe("a server that cannot start", () => {
  it("throws at once for invalid agents and options", () => {
    expect(() => create({}, [])).toThrow(/No agent is given/);
    expect(() => create({}, [shouter, shouter])).toThrow(/Two agents have the id "shouter"/);
    expect(() => create({ port: -1 })).toThrow(/port/);
  });

  it("throws at once if agents declare features that the server does not provide", () => {
    const pushy = { ...shouter, id: "pushy", capabilities: { pushNotifications: true } };
    const secret = { ...shouter, id: "secret", extendedCard: { description: "More." } };
    expect(() => create({ push: false }, [shouter, pushy, secret])).toThrow(
      expect.objectContaining({
        name: "StartupError",
        kind: "usage",
        message: expect.stringMatching(
          /^Agent "pushy" declares capabilities\.pushNotifications, but .*\nAgent "secret" declares extendedCard, but .*$/,
        ),
      }),
    );
    expect(() => create({ authenticate: () => undefined }, [secret])).not.toThrow();
  });

  it.each([
    [{ store: "redis:" }, /must be memory:, sqlite:FILE or postgres:/],
    [{ store: "sqlite:/dev/null/tasks.db" }, /cannot be written to/],
    [{ limits: { maxTaskBites: 1 } }, /unknown limit "maxTaskBites"/],
    [{ host: "192.0.2.1" }, /not an address of this machine/],
  ])("rejects `listen` with the reason: %o", async (options: object, message) => {
    await expect(create(options).listen()).rejects.toThrow(message);
  });

  it("refuses requests and logs the reason, which callers do not see", async () => {
    const server = create({ store: "sqlite:/dev/null/tasks.db" });
    const response = await server.fetch(request("hello"));
    expect(response.status).toBe(503);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).not.toContain("/dev/null");
    expect(logged).toEqual(["Requests are refused: the server could not start"]);
  });
});

describe("a server whose store fails until a restart", () => {
  it("logs it, is not ready, and does not answer", async () => {
    const store = createMemoryStore();
    const failure = new StoreError("unknown", "The outcome of a commit is unknown.");
    const fatal = Promise.withResolvers<unknown>();
    const broken = new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return () => Promise.reject(failure);
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const server = create({ store: broken, onFatal: fatal.resolve, drainTimeout: 0 });
    let answered = false;
    void server.fetch(request("hello")).then(() => {
      answered = true;
    });
    expect(await fatal.promise).toBe(failure);
    expect((await server.fetch(new Request("http://test/readyz"))).status).toBe(503);
    expect(answered).toBe(false);
    expect(logged).toContainEqual(expect.stringMatching(/only a restart/));
  });
});
