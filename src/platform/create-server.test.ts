import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../engine/agent.ts";
import { StoreError } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { createServer, type Server } from "./create-server.ts";
import type { ServerOptions } from "./settings.ts";

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

/** Waits until it is let go, and then goes on at its own pace. */
const waiter = agent({
  name: "Waiter",
  description: "Waits.",
  version: "1.0.0",
  async *run(task) {
    yield "waiting";
    await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
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
  it("answers web requests without a port, from the first moment", async () => {
    expect(await (await create().fetch(request("hello"))).json()).toMatchObject(COMPLETED);
  });

  it("answers as a handler of node:http", async () => {
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

  it("listens, and its cards say where", async () => {
    const { url, port } = await create().listen();
    expect(port).toBeGreaterThan(0);
    const response = await fetch(new Request(`${url}/`, request("hello")));
    expect(await response.json()).toMatchObject(COMPLETED);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({ supportedInterfaces: [{ url: `${url}/` }] });
  });

  it("warns when it listens to all but its cards do not say where", async () => {
    await create({ host: "0.0.0.0", publicUrl: "https://agents.example.org" }).listen();
    expect(logged).toEqual([]);
    await create({ host: "0.0.0.0" }).listen();
    expect(logged).toEqual([expect.stringMatching(/give the public URL/)]);
  });

  it("can be closed twice, before and after it listens, and answers no more", async () => {
    const server = create();
    const { url } = await server.listen();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    await create().close();
  });

  it("refuses new work while running tasks may finish, and lets their readers go", async () => {
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

  it("knows who calls, and tells hooks of calls and events", async () => {
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

  it("keeps to the limits it is given", async () => {
    const response = await create({ limits: { maxBodyBytes: 300 } }).fetch(request("x".repeat(1000)));
    expect(response.status).toBe(413);
  });
});

describe("a server that cannot start", () => {
  it("is told at once what makes no sense", () => {
    expect(() => create({}, [])).toThrow(/no agent to serve/);
    expect(() => create({}, [shouter, shouter])).toThrow(/Two agents have the id "shouter"/);
    expect(() => create({ port: -1 })).toThrow(/port/);
  });

  it.each([
    [{ store: "redis:" }, /must be memory: or sqlite:FILE/],
    [{ store: "sqlite:/dev/null/tasks.db" }, /cannot be written to/],
    [{ limits: { maxTaskBites: 1 } }, /no limit "maxTaskBites"/],
    [{ host: "192.0.2.1" }, /not an address of this machine/],
  ])("says why when it is to listen: %o", async (options: object, message) => {
    await expect(create(options).listen()).rejects.toThrow(message);
  });

  it("refuses requests without telling callers why", async () => {
    const server = create({ store: "sqlite:/dev/null/tasks.db" });
    const response = await server.fetch(request("hello"));
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("/dev/null");
    expect(logged).toEqual(["Requests are refused: the server could not start"]);
  });
});

describe("a server whose store fails in a way that only a restart can mend", () => {
  it("says so, is not ready, and answers nobody", async () => {
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
