import { type Agent, agent } from "palaver";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { EventSource } from "../conformance/http.ts";
import { type Served, serveAgents } from "../fixtures/nodes/serve-agents.ts";

/** Accepts only messages that name one of its skills. */
const picky = agent({
  id: "picky",
  name: "Picky",
  description: "Does one thing.",
  version: "1.0.0",
  skills: [
    { id: "weigh", name: "Weigh", description: "Weighs.", tags: ["weight"], run: async () => "1 kg" },
    { id: "count", name: "Count", description: "Counts.", tags: ["number"], run: async () => "2" },
  ],
});

const impatient = agent({
  id: "impatient",
  name: "Impatient",
  description: "Waits for nobody.",
  version: "1.0.0",
  inputTimeout: 1,
  run: async (task) => task.ask("Still there?"),
});

interface Outcome {
  readonly state: string;
  /** The text of the final status, if any. */
  readonly text: string | undefined;
}

interface Client {
  readonly version: string;
  /** Sends a text without waiting and returns the task id. */
  send(url: string, text: string): Promise<string>;
  outcome(url: string, id: string): Promise<Outcome>;
  /** The version's words for the states rejected and failed. */
  readonly rejected: string;
  readonly failed: string;
}

async function json<T>(address: string, body?: object, version?: string): Promise<T> {
  const headers = { "content-type": "application/json", ...(version !== undefined && { "a2a-version": version }) };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(address, init);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

interface MessageInput {
  readonly parts?: readonly { readonly text?: string }[];
  readonly content?: readonly { readonly text?: string }[];
}

interface WireTask {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: MessageInput };
}

function outcomeOf({ status: { state, message } }: WireTask): Outcome {
  return { state, text: (message?.parts ?? message?.content)?.[0]?.text };
}

interface Call {
  readonly method: string;
  readonly params: object;
}

async function call<T>(url: string, version: string | undefined, { method, params }: Call): Promise<T> {
  const { result } = await json<{ readonly result: T }>(`${url}/`, { jsonrpc: "2.0", id: 1, method, params }, version);
  return result;
}

const messageId = (): string => crypto.randomUUID();

function olderClient(version: string | undefined): Client {
  return {
    version: `JSON-RPC ${version ?? "0.3, without header"}`,
    rejected: "rejected",
    failed: "failed",
    async send(url, text) {
      const message = { kind: "message", messageId: messageId(), role: "user", parts: [{ kind: "text", text }] };
      const params = { message, configuration: { blocking: false } };
      return (await call<WireTask>(url, version, { method: "message/send", params })).id;
    },
    outcome: async (url, id) => outcomeOf(await call<WireTask>(url, version, { method: "tasks/get", params: { id } })),
  };
}

const CLIENTS: readonly Client[] = [
  {
    version: "JSON-RPC 1.0",
    rejected: "TASK_STATE_REJECTED",
    failed: "TASK_STATE_FAILED",
    async send(url, text) {
      const message = { messageId: messageId(), role: "ROLE_USER", parts: [{ text }] };
      const params = { message, configuration: { returnImmediately: true } };
      return (await call<{ readonly task: WireTask }>(url, "1.0", { method: "SendMessage", params })).task.id;
    },
    outcome: async (url, id) => outcomeOf(await call<WireTask>(url, "1.0", { method: "GetTask", params: { id } })),
  },
  {
    version: "REST 0.3",
    rejected: "TASK_STATE_REJECTED",
    failed: "TASK_STATE_FAILED",
    async send(url, text) {
      const message = { messageId: messageId(), role: "ROLE_USER", content: [{ text }] };
      return (await json<{ readonly task: WireTask }>(`${url}/v1/message:send`, { message })).task.id;
    },
    outcome: async (url, id) => outcomeOf(await json<WireTask>(`${url}/v1/tasks/${id}`)),
  },
  olderClient(undefined),
  olderClient("0.3"),
  olderClient("0.2"),
  {
    // 0.1 has no rejected state.
    version: "JSON-RPC 0.1",
    rejected: "failed",
    failed: "failed",
    async send(url, text) {
      const message = { role: "user", parts: [{ type: "text", text }] };
      return (await call<WireTask>(url, "0.1", { method: "tasks/send", params: { id: messageId(), message } })).id;
    },
    outcome: async (url, id) => outcomeOf(await call<WireTask>(url, "0.1", { method: "tasks/get", params: { id } })),
  },
  {
    version: "the plain dialect",
    rejected: "failed",
    failed: "failed",
    send: async (url, text) => (await json<{ readonly id: string }>(`${url}/a2a/tasks/send`, { message: text })).id,
    async outcome(url, id) {
      const task = await json<{ state: string; messages: readonly MessageInput[] }>(`${url}/a2a/tasks/${id}`);
      return { state: task.state, text: task.messages.at(-1)?.parts?.[0]?.text };
    },
  },
];

let server: Served;
let origin: string;
const at = ({ id }: Agent): string => `${origin}/agents/${id}`;

beforeAll(async () => {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const options = { port: 0, host: "127.0.0.1", store: "memory:", drainTimeout: 0, logger };
  server = await serveAgents([picky, impatient], options);
  ({ url: origin } = server);
});
afterAll(() => server.close());

describe.each(CLIENTS)("A client of $version", (client) => {
  const ended = async (of: Agent, id: string, state: string): Promise<string> => {
    const outcome = await vi.waitFor(async () => {
      const found = await client.outcome(at(of), id);
      expect(found.state).toBe(state);
      return found;
    });
    return outcome.text ?? "";
  };

  it("receives the available skills if its message matches none", async () => {
    const id = await client.send(at(picky), "Whatever");
    expect(await ended(picky, id, client.rejected)).toMatch(/^No skill accepts this message\..*"weigh".*"count"/);
  });

  it("receives the failure if its answer comes too late", async () => {
    const id = await client.send(at(impatient), "Wait");
    expect(await ended(impatient, id, client.failed)).toMatch(/^Input timeout/);
  });
});

describe("A stream", () => {
  it.each([
    ["0.1", "tasks/resubscribe"],
    ["0.2", "tasks/resubscribe"],
    ["0.3", "tasks/resubscribe"],
  ])("of %s ends with the failure if no answer comes in time", async (version, method) => {
    const patient = await CLIENTS[0]?.send(at(impatient), "Wait");
    const response = await fetch(at(impatient), {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": version },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id: patient } }),
    });
    const source = new EventSource(response);
    let last: unknown;
    for (let event = await source.next(); event !== undefined; event = await source.next())
      last = JSON.parse(event.data);
    // The last frame is the same whether the client connected before or after the end.
    expect(last).toMatchObject({
      result: { status: { state: "failed", message: { role: "agent", parts: [{ text: "Input timeout" }, {}] } } },
    });
    expect(last).not.toHaveProperty("error");
  });
});
