import { agent } from "palaver";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../src/testing/temporary-folder.ts";
import { EventSource, type ServerSentEvent } from "../conformance/http.ts";
import { type Served, serveAgents } from "../fixtures/nodes/serve-agents.ts";

/** Asks twice, so a task that was answered once still waits for input. */
const clerk = agent({
  name: "Clerk",
  description: "Takes orders.",
  version: "1.0.0",
  async *run(task) {
    yield "Noted: ";
    const drink = await task.ask("Tea or coffee?");
    yield [{ data: { drink } }];
    await task.artifact("receipt").end("1 cup");
    yield await task.ask("Milk?");
  },
});

/** A task id chosen by a 0.1 client; it must be encoded in a path. */
const ID = "order 7/ä";
const IN_PATH = encodeURIComponent(ID);
const SESSION = "table 4";
const AT: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const SOME_ID: unknown = expect.stringMatching(/^[\da-f-]{36}$/);

let folder: TemporaryFolder;
let server: Served;
let url: string;

async function start(): Promise<void> {
  server = await serveAgents(clerk, {
    port: 0,
    host: "127.0.0.1",
    store: `sqlite:${folder.file("tasks.db")}`,
    drainTimeout: 0,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  ({ url } = server);
}

beforeAll(async () => {
  folder = await temporaryFolder();
  await start();
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: unknown;
}

async function rpc(method: string, params: object, version?: string): Promise<RpcAnswer> {
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(version !== undefined && { "a2a-version": version }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  expect(response.status).toBe(200);
  const { jsonrpc, id, ...answer } = (await response.json()) as RpcAnswer & { jsonrpc: unknown; id: unknown };
  expect({ jsonrpc, id }).toEqual({ jsonrpc: "2.0", id: 1 });
  return answer;
}

async function read(path: string, version?: string): Promise<unknown> {
  const response = await fetch(url + path, version === undefined ? {} : { headers: { "a2a-version": version } });
  expect(response.status).toBe(200);
  return response.json();
}

/** The metadata of the agent's question, the same in every version. */
function question(prompt: string): object {
  return { inputRequest: { kind: "input-request", prompt, requestId: SOME_ID } };
}

/** The task while it waits for its first answer, exactly as each version writes it. */
const links = { taskId: ID, contextId: SESSION };
const asked = { metadata: question("Tea or coffee?") };
const WAITING = {
  "0.1": {
    id: ID,
    sessionId: SESSION,
    status: {
      state: "input-required",
      message: { role: "agent", parts: [{ type: "text", text: "Tea or coffee?" }], ...asked },
      timestamp: AT,
    },
    artifacts: [{ index: 0, name: "result", parts: [{ type: "text", text: "Noted: " }] }],
  },
  "0.3": {
    kind: "task",
    id: ID,
    contextId: SESSION,
    status: {
      state: "input-required",
      message: {
        kind: "message",
        messageId: SOME_ID,
        role: "agent",
        parts: [{ kind: "text", text: "Tea or coffee?" }],
        ...links,
        ...asked,
      },
      timestamp: AT,
    },
    artifacts: [{ artifactId: "result", name: "result", parts: [{ kind: "text", text: "Noted: " }] }],
    history: [
      { kind: "message", messageId: SOME_ID, role: "user", parts: [{ kind: "text", text: "A cup of" }], ...links },
      {
        kind: "message",
        messageId: SOME_ID,
        role: "agent",
        parts: [{ kind: "text", text: "Tea or coffee?" }],
        ...links,
        ...asked,
      },
    ],
  },
  "0.3 REST": {
    id: ID,
    contextId: SESSION,
    status: {
      state: "TASK_STATE_INPUT_REQUIRED",
      message: { messageId: SOME_ID, role: "ROLE_AGENT", content: [{ text: "Tea or coffee?" }], ...links, ...asked },
      timestamp: AT,
    },
    artifacts: [{ artifactId: "result", name: "result", parts: [{ text: "Noted: " }] }],
    history: [
      { messageId: SOME_ID, role: "ROLE_USER", content: [{ text: "A cup of" }], ...links },
      { messageId: SOME_ID, role: "ROLE_AGENT", content: [{ text: "Tea or coffee?" }], ...links, ...asked },
    ],
  },
  "1.0": {
    id: ID,
    contextId: SESSION,
    status: {
      state: "TASK_STATE_INPUT_REQUIRED",
      message: { messageId: SOME_ID, role: "ROLE_AGENT", parts: [{ text: "Tea or coffee?" }], ...links, ...asked },
      timestamp: AT,
    },
    artifacts: [{ artifactId: "result", name: "result", parts: [{ text: "Noted: " }] }],
    history: [
      { messageId: SOME_ID, role: "ROLE_USER", parts: [{ text: "A cup of" }], ...links },
      { messageId: SOME_ID, role: "ROLE_AGENT", parts: [{ text: "Tea or coffee?" }], ...links, ...asked },
    ],
  },
} as const;
/** Callers that request 0.3 also find the question's data in the message. */
const WAITING_0_3 = {
  ...WAITING["0.3"],
  status: {
    ...WAITING["0.3"].status,
    message: { ...WAITING["0.3"].status.message, ...question("Tea or coffee?") },
  },
};

/** The next frames with their event ids, up to the frame with this state. */
async function framesUntil(source: EventSource, state: string): Promise<readonly unknown[]> {
  const frames: unknown[] = [];
  for (;;) {
    const event: ServerSentEvent | undefined = await source.next();
    if (event === undefined) throw new Error(`The stream ended before ${state}.`);
    const frame = JSON.parse(event.data) as { readonly statusUpdate?: { readonly status: { readonly state: string } } };
    frames.push([event.id, frame]);
    if (frame.statusUpdate?.status.state === state) return frames;
  }
}

describe("one task, used by clients of every version,", () => {
  let subscriber: EventSource;

  it("is created by a 0.1 client, which chooses the task id", async () => {
    const message = { role: "user", parts: [{ type: "text", text: "A cup of" }] };
    const { result } = await rpc("tasks/send", { id: ID, sessionId: SESSION, message });
    // The send does not wait, so the task may be in any state.
    expect(result).toMatchObject({
      id: ID,
      sessionId: SESSION,
      status: { state: expect.stringMatching(/^(?:submitted|working|input-required)$/), timestamp: AT },
    });
    for (const later of ["kind", "contextId", "history"]) expect(result).not.toHaveProperty(later);
    await vi.waitFor(async () => expect((await rpc("tasks/get", { id: ID }, "0.1")).result).toEqual(WAITING["0.1"]));
  });

  it("is read by 0.3 clients: over REST, and over JSON-RPC with and without the version header", async () => {
    expect(await read(`/v1/tasks/${IN_PATH}`)).toEqual(WAITING["0.3 REST"]);
    expect((await rpc("tasks/get", { id: ID }, "0.3")).result).toEqual(WAITING_0_3);
    const { result } = await rpc("tasks/get", { id: ID });
    // A request without a version gets the members of both versions.
    expect(result).toMatchObject(WAITING["0.3"]);
    expect(result).toMatchObject(WAITING["0.1"]);
  });

  it("survives a restart of its server", async () => {
    await server.close();
    await start();
    expect((await rpc("tasks/get", { id: ID }, "0.1")).result).toEqual(WAITING["0.1"]);
    expect((await rpc("tasks/get", { id: ID }, "0.3")).result).toEqual(WAITING_0_3);
    expect((await rpc("tasks/get", { id: ID })).result).toMatchObject(WAITING["0.1"]);
  });

  it("is followed over REST 1.0", async () => {
    const response = await fetch(`${url}/tasks/${IN_PATH}:subscribe`, {
      method: "POST",
      headers: { "a2a-version": "1.0", accept: "text/event-stream" },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    subscriber = new EventSource(response);
    const first = await subscriber.next();
    expect(first?.event).toBeUndefined();
    expect([first?.id, JSON.parse(first?.data ?? "")]).toEqual(["3", { task: WAITING["1.0"] }]);
  });

  it("is answered by a 0.2 client", async () => {
    const message = { kind: "message", messageId: "m-2", role: "user", parts: [{ kind: "text", text: "Tea" }] };
    const { result } = await rpc("message/send", { message: { ...message, taskId: ID } }, "0.2");
    expect(result).toMatchObject({
      kind: "task",
      id: ID,
      contextId: SESSION,
      status: {
        state: "input-required",
        message: { kind: "message", role: "agent", parts: [{ kind: "text", text: "Milk?" }], ...links },
        timestamp: AT,
      },
      artifacts: [
        {
          artifactId: "result",
          parts: [
            { kind: "text", text: "Noted: " },
            { kind: "data", data: { drink: "Tea" } },
          ],
        },
        { artifactId: "receipt", name: "receipt", parts: [{ kind: "text", text: "1 cup" }] },
      ],
      history: [{ role: "user" }, { role: "agent" }, { ...message, ...links }, { role: "agent" }],
    });
    for (const earlier of ["sessionId", "task"]) expect(result).not.toHaveProperty(earlier);
    const update = (member: object): object => ({ ...links, ...member });
    expect(await framesUntil(subscriber, "TASK_STATE_INPUT_REQUIRED")).toEqual([
      ["4", { statusUpdate: update({ status: { state: "TASK_STATE_WORKING", timestamp: AT } }) }],
      [
        "5",
        {
          artifactUpdate: update({
            artifact: { artifactId: "result", parts: [{ data: { drink: "Tea" } }] },
            append: true,
          }),
        },
      ],
      [
        "6",
        {
          artifactUpdate: update({
            artifact: { artifactId: "receipt", name: "receipt", parts: [{ text: "1 cup" }] },
            lastChunk: true,
          }),
        },
      ],
      [
        "7",
        {
          statusUpdate: update({
            status: {
              state: "TASK_STATE_INPUT_REQUIRED",
              message: {
                messageId: SOME_ID,
                role: "ROLE_AGENT",
                parts: [{ text: "Milk?" }],
                metadata: question("Milk?"),
                ...links,
              },
              timestamp: AT,
            },
          }),
        },
      ],
    ]);
  });

  it("is read in the plain dialect", async () => {
    const says = (role: string, text: string): object => ({ role, parts: [{ type: "text", text }] });
    expect(await read(`/a2a/tasks/${IN_PATH}`)).toEqual({
      id: ID,
      state: "working",
      sessionId: SESSION,
      messages: [
        says("user", "A cup of"),
        says("agent", "Tea or coffee?"),
        says("user", "Tea"),
        says("agent", 'Noted: \n{"drink":"Tea"}\n\n1 cup'),
        says("agent", "Milk?"),
      ],
      createdAt: AT,
      updatedAt: AT,
    });
  });

  it("is canceled by a 0.1 client, and every client sees it", async () => {
    const { result } = await rpc("tasks/cancel", { id: ID }, "0.1");
    expect(result).toMatchObject({
      id: ID,
      sessionId: SESSION,
      status: { state: "canceled", timestamp: AT },
      artifacts: [
        {
          index: 0,
          parts: [
            { type: "text", text: "Noted: " },
            { type: "data", data: { drink: "Tea" } },
          ],
        },
        { index: 1, name: "receipt", parts: [{ type: "text", text: "1 cup" }] },
      ],
    });
    for (const later of ["kind", "contextId"]) expect(result).not.toHaveProperty(later);
    const ended = { statusUpdate: { ...links, status: { state: "TASK_STATE_CANCELED", timestamp: AT } } };
    const closing = {
      ...links,
      artifact: { artifactId: "result", parts: [{ text: "" }] },
      append: true,
      lastChunk: true,
    };
    expect(await framesUntil(subscriber, "TASK_STATE_CANCELED")).toEqual([
      ["8", { artifactUpdate: closing }],
      ["9", ended],
    ]);
    expect(await subscriber.next()).toBeUndefined();

    const canceled = { state: "canceled", timestamp: AT };
    expect((await rpc("tasks/get", { id: ID }, "0.2")).result).toMatchObject({ kind: "task", status: canceled });
    expect((await rpc("tasks/get", { id: ID })).result).toMatchObject({
      ...{ kind: "task", contextId: SESSION, sessionId: SESSION, status: canceled },
      artifacts: [
        { artifactId: "result", index: 0 },
        { artifactId: "receipt", index: 1 },
      ],
    });
    expect(await read(`/v1/tasks/${IN_PATH}`)).toMatchObject({ status: { state: "TASK_STATE_CANCELLED" } });
    expect(await read(`/tasks/${IN_PATH}`, "1.0")).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    const plain = (await read(`/a2a/tasks/${IN_PATH}`)) as { readonly messages: readonly unknown[] };
    expect(plain).toMatchObject({ state: "failed" });
    expect(plain.messages.at(-1)).toEqual({ role: "agent", parts: [{ type: "text", text: "Task canceled" }] });
    expect(await rpc("tasks/cancel", { id: ID }, "0.1")).toMatchObject({ error: { code: -32002 } });
  });
});
