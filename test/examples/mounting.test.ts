import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, createServer, type Server } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import type { CallRecord } from "../../src/server.ts";
import { collect, must, open, sendParams, type Task, textOf } from "../e2e/rpc.ts";
import { freePort, HELLO, HOSTS } from "./hosts.ts";

interface CardInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
}

const JSON_TYPE = { "content-type": "application/json" };

/** For each binding and version: the path below the card's address, and the body of a send. */
const SENDS: Readonly<Record<string, (text: string) => { readonly path: string; readonly body: object }>> = {
  "JSONRPC 1.0": (text) => ({ path: "", body: rpc("SendMessage", sendParams(text)) }),
  "HTTP+JSON 1.0": (text) => ({ path: "/message:send", body: sendParams(text) }),
  "JSONRPC 0.3": (text) => ({ path: "", body: rpc("message/send", { message: message0_3(text) }) }),
  "HTTP+JSON 0.3": (text) => ({ path: "/v1/message:send", body: { message: message0_3(text) } }),
  "JSONRPC 0.2": (text) => ({ path: "", body: rpc("message/send", { message: message0_3(text) }) }),
  "JSONRPC 0.1": (text) => ({ path: "", body: rpc("tasks/send", sending0_1(text)) }),
  "urn:palaver:binding:plain 1.0": (text) => ({ path: "/a2a/tasks/send", body: { message: text } }),
};

function rpc(method: string, params: object): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

function message0_3(text: string): object {
  return { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }] };
}

/** 0.1 answers before the task is finished; the message is in the history. */
function sending0_1(text: string): object {
  const message = { role: "user", parts: [{ type: "text", text }] };
  return { id: crypto.randomUUID(), message, historyLength: 1 };
}

describe.each(HOSTS)("Agents mounted in $name below “$prefix/”", ({ prefix, parsesFirst, start }) => {
  let agents: Server;
  let stop: () => Promise<void>;
  let origin: string;
  let base: string;
  let gate: PromiseWithResolvers<void>;
  const calls: CallRecord[] = [];

  beforeEach(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    base = `${origin}${prefix}`;
    gate = Promise.withResolvers<void>();
    calls.length = 0;
    const about = { description: "For tests.", version: "1.0.0" };
    const echo = agent({ ...about, name: "Echo", run: async (task) => task.text });
    const teller = agent({
      ...about,
      name: "Teller",
      async *run() {
        yield "Once ";
        await gate.promise;
        yield "upon a time.";
      },
    });
    agents = createServer([echo, teller], {
      store: "memory:",
      publicUrl: base,
      logger: SILENT_LOGGER,
      on: { call: (record) => void calls.push(record) },
    });
    stop = await start(agents, port);
  });
  afterEach(async () => {
    gate.resolve();
    await agents.close();
    await stop();
  });

  it.each(["", "/agents/teller"])("serve cards with addresses below their prefix (%s)", async (path) => {
    const interfaces = await interfacesAt(`${base}${path}`);
    expect(interfaces.length).toBeGreaterThanOrEqual(4);
    for (const { url } of interfaces) expect(`${url}/`.startsWith(`${base}${path}/`), url).toBe(true);
  });

  it("answer at every address of their card", async () => {
    for (const { url, protocolBinding, protocolVersion } of await interfacesAt(base)) {
      const key = `${protocolBinding} ${protocolVersion}`;
      const send = SENDS[key]?.(`by ${key}`);
      expect(send, key).toBeDefined();
      const response = await fetch(`${url}${send?.path ?? ""}`, {
        method: "POST",
        headers: { ...JSON_TYPE, "a2a-version": protocolVersion },
        body: JSON.stringify(send?.body),
      });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      expect(text, key).toContain(`by ${key}`);
      expect(text, key).not.toContain('"error"');
    }
  });

  it("accept REST bodies of the A2A media type", async () => {
    const response = await fetch(`${base}/message:send`, {
      method: "POST",
      headers: { "content-type": "application/a2a+json", "a2a-version": "1.0" },
      body: JSON.stringify(sendParams("of its own type")),
    });
    expect(await response.json()).toMatchObject({ task: { artifacts: [{ parts: [{ text: "of its own type" }] }] } });
  });

  it("answer without a trailing slash, and with a query", async () => {
    const body = JSON.stringify(rpc("SendMessage", sendParams("Hello")));
    for (const path of ["", "/"]) {
      const response = await fetch(`${base}${path}?A2A-Version=9.9`, { method: "POST", headers: JSON_TYPE, body });
      expect(await response.json()).toMatchObject({ error: { code: -32009 } });
      const well = await fetch(`${base}${path}`, { method: "POST", headers: JSON_TYPE, body });
      expect(await well.json()).toMatchObject({ result: { task: { status: { state: "TASK_STATE_COMPLETED" } } } });
    }
  });

  it("stream while the task is running", async () => {
    const url = `${base}/agents/teller/`;
    const frames = await collect(url, { method: "SendStreamingMessage", params: sendParams("Tell") }, (frame) => {
      // The agent continues only after the first chunk has arrived.
      if (textOf([frame]).includes("Once ")) gate.resolve();
      return true;
    });
    expect(textOf(frames)).toBe("Once upon a time.");
    expect(frames.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("release a reader that disconnects, and continue the task", async () => {
    const url = `${base}/agents/teller/`;
    const stream = await open(url, { method: "SendStreamingMessage", params: sendParams("Tell") });
    const { value: first } = await stream.frames.next();
    const id = first?.result.task?.id ?? "";
    expect(calls).toEqual([]);
    stream.close();
    await expect.poll(() => calls.map(({ operation }) => operation)).toEqual(["stream"]);
    expect(await must<Task>(url, "GetTask", { id })).toMatchObject({ status: { state: "TASK_STATE_WORKING" } });
    gate.resolve();
    await expect.poll(async () => (await must<Task>(url, "GetTask", { id })).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("leave the application's own page unchanged", async () => {
    expect(await (await fetch(`${origin}/hello`)).json()).toEqual(HELLO);
  });

  it("answer unknown paths below their prefix, and no others", async () => {
    const missing = await fetch(`${base}/nothing/here`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { code: 404 } });
    if (prefix === "") return;
    const elsewhere = await fetch(`${base}s/.well-known/agent-card.json`);
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.text()).not.toContain("NOT_FOUND");
  });

  it(parsesFirst ? "receive no bodies that the application refuses" : "apply their own limits to bodies", async () => {
    const post = (body: string) => fetch(`${base}/`, { method: "POST", headers: JSON_TYPE, body });
    const malformed = await post("{");
    expect(malformed.status).toBe(400);
    const words = "x".repeat(3_000_000);
    const large = await post(JSON.stringify(rpc("SendMessage", sendParams(words))));
    expect(large.status).toBe(parsesFirst ? 413 : 200);
    if (parsesFirst) return expect(calls).toEqual([]);
    expect(await malformed.json()).toMatchObject({ error: { code: -32700 } });
    expect(await large.json()).toMatchObject({ result: { task: { artifacts: [{ parts: [{ text: words }] }] } } });
  });

  async function interfacesAt(place: string): Promise<readonly CardInterface[]> {
    const response = await fetch(`${place}/.well-known/agent-card.json`, { headers: { "a2a-version": "1.0" } });
    const card: { readonly supportedInterfaces: readonly CardInterface[] } = JSON.parse(await response.text());
    return card.supportedInterfaces;
  }
});
