import { agent, createServer, type Server } from "palaver";
import { apiKeys } from "palaver/auth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditRecord } from "../../src/platform/security/audit-log.ts";
import { SILENT } from "./attack-surface.ts";

/** Operators cancel tasks and answer questions of all callers; nobody else may. */

const TOKEN = "plo_the-token-of-this-machine";
const asks = agent({
  ...{ id: "asks", name: "Asks", description: "Asks.", version: "1.0.0" },
  async run(task) {
    const first = await task.ask("Which color?");
    const second = await task.ask("Which size?", { name: "size" });
    return `${first} ${second}`;
  },
});

const KEYS: Readonly<Record<string, readonly string[]>> = {
  "key-of-ada": ["use"],
  "key-of-an-operator": ["operate"],
};

describe("The operator API", () => {
  let server: Server;
  let url = "";
  const audited: AuditRecord[] = [];
  beforeAll(async () => {
    server = createServer(asks, {
      ...{ port: 0, store: "memory:", logger: SILENT, audit: (record) => void audited.push(record) },
      security: { schemes: { key: apiKeys({ verify: (key) => KEYS[key] && { id: key, scopes: KEYS[key] } }) } },
      operator: { token: TOKEN, policy: { scopes: ["operate"] } },
    });
    ({ url } = await server.listen());
  });
  afterAll(() => server.close());

  const post = async (path: string, body: object, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${url}/operator/v1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const operator = { authorization: `Bearer ${TOKEN}` };

  /** A task of Ada that asks which color. */
  async function waitingTask(): Promise<string> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", "x-api-key": "key-of-ada" },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "go" }] } },
      }),
    });
    return JSON.parse(await response.text()).result.task.id;
  }
  const read = async (id: string) => {
    const response = await fetch(`${url}/operator/v1/tasks/${id}`, { headers: operator });
    return JSON.parse(await response.text());
  };

  it("answers the questions of a caller's task, one after the other, and says in the history who answered", async () => {
    const id = await waitingTask();
    const first = await post(`/tasks/${id}/answer`, { text: "red" }, operator);
    expect(first).toMatchObject({ status: 200, body: { task: { id, owner: "key:key-of-ada" } } });
    await expect.poll(async () => (await read(id)).task.state).toBe("input-required");
    await expect.poll(async () => JSON.stringify((await read(id)).task.status)).toContain("Which size?");
    await post(`/tasks/${id}/answer`, { text: "large" }, operator);
    await expect.poll(async () => (await read(id)).task.state).toBe("completed");
    const { history } = await read(id);
    expect(JSON.stringify(history)).toContain('"metadata":{"answeredBy":"operator"}');
  });

  it("cancels a task of a caller, once", async () => {
    const id = await waitingTask();
    expect(await post(`/tasks/${id}/cancel`, {}, operator)).toMatchObject({
      status: 200,
      body: { task: { id, state: "canceled" } },
    });
    expect((await post(`/tasks/${id}/cancel`, {}, operator)).status).toBe(200);
    expect(await post(`/tasks/${id}/answer`, { text: "red" }, operator)).toMatchObject({
      status: 409,
      body: { error: { message: "The task asks no question: its state is canceled" } },
    });
  });

  it("says what is wrong with a request", async () => {
    const id = await waitingTask();
    expect((await post("/tasks/none/cancel", {}, operator)).status).toBe(404);
    expect((await post("/tasks/none/answer", { text: "red" }, operator)).status).toBe(404);
    for (const body of [{}, { text: 1 }, { text: "red", other: 1 }])
      expect(await post(`/tasks/${id}/answer`, body, operator)).toMatchObject({ status: 400 });
    expect((await post(`/tasks/${id}/cancel`, { force: true }, operator)).status).toBe(400);
  });

  it.each([
    ["without a token", {}, 401],
    ["with a wrong token", { authorization: "Bearer plo_another-token-of-this-machine" }, 401],
    ["of a caller that the policy does not allow, though it owns the task", { "x-api-key": "key-of-ada" }, 403],
    ["through a proxy, with the token", { ...operator, "x-forwarded-for": "127.0.0.1" }, 401],
    ["of a web page of another origin", { ...operator, origin: "https://evil.example" }, 403],
    ["of a form of a web page", { ...operator, "content-type": "text/plain" }, 415],
  ])("refuses to change a task for a request %s", async (_name, headers, status) => {
    const id = await waitingTask();
    expect((await post(`/tasks/${id}/cancel`, {}, headers)).status).toBe(status);
    expect((await post(`/tasks/${id}/answer`, { text: "red" }, headers)).status).toBe(status);
    expect((await read(id)).task.state).toBe("input-required");
    expect((await read(id)).inbox).toEqual([]);
  });

  it("records who changed which task in the audit log", async () => {
    const id = await waitingTask();
    audited.length = 0;
    await post(`/tasks/${id}/answer`, { text: "red" }, { "x-api-key": "key-of-an-operator" });
    await post(`/tasks/${id}/cancel`, {}, {});
    expect(audited).toMatchObject([
      { principal: "key:key-of-an-operator", request: `POST /operator/v1/tasks/${id}/answer`, outcome: "ok" },
      { principal: "anonymous", request: `POST /operator/v1/tasks/${id}/cancel`, outcome: "unauthenticated" },
    ]);
  });
});
