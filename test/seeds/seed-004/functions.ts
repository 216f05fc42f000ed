import { createServer } from "palaver";
import {
  type A2AMessage,
  type A2ATask,
  type A2ATaskDeps,
  type A2ATaskSendRequest,
  buildAgentCard,
  buildAgentCardForAgent,
  clearTaskStore,
  handleTaskGet,
  handleTaskSend,
} from "palaver/plain";
import { expect, it, vi } from "vitest";
import { at, get, textAt } from "../exchange.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { endedTask, says, sendTask } from "./tasks.ts";

const HOME = { defaultProjectId: "project-1" };
const SKILL = { id: "search", name: "Search", description: "Finds things.", tags: ["search"] };

it(
  seed.example(
    "Exported Functions › handleTaskSend",
    "accepts a text or a message, bare or under params, and returns a task at once",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => task.text, HOME);
    const deps: A2ATaskDeps = { server: testServer.server };
    const message: A2AMessage = { role: "user", parts: [{ type: "text", text: "Hello" }] };
    const bodies: readonly A2ATaskSendRequest[] = [
      { message: "Hello" },
      { params: { message: "Hello" } },
      { message: { role: "user", parts: message.parts } },
    ];
    for (const body of bodies) {
      const task: A2ATask = await handleTaskSend(deps, body);
      expect(task.messages[0]).toEqual(message);
      expect((await endedTask(testServer.url, task.id)).messages).toEqual([message, says("agent", "Hello")]);
    }
  },
);

it(seed.example("Exported Functions › handleTaskGet", "returns the task with that id, or null"), async () => {
  await using testServer = await serveScript(async () => "done", HOME);
  const { id } = await handleTaskSend({ server: testServer.server }, { message: "Hello" });
  expect(await handleTaskGet(id)).toMatchObject({ id });
  expect(await handleTaskGet("task-999")).toBeNull();
  // Over HTTP an unknown task is 404.
  expect((await get(`${testServer.url}/a2a/tasks/${id}`)).status).toBe(200);
  expect((await get(`${testServer.url}/a2a/tasks/task-999`)).status).toBe(404);
});

it(seed.example("Exported Functions › clearTaskStore", "afterwards no task is found"), async () => {
  await using testServer = await serveScript(async () => "done", HOME);
  const deps = { server: testServer.server };
  const { id } = await handleTaskSend(deps, { message: "Hello" });
  const other = await sendTask(testServer.url, { message: "Hello" });
  await endedTask(testServer.url, other.id);
  await vi.waitUntil(() => Date.now() > Date.parse(other.createdAt));
  clearTaskStore();
  expect(await handleTaskGet(id)).toBeNull();
  expect(await handleTaskGet(deps, id)).toBeNull();
  expect(await handleTaskGet(deps, other.id)).toBeNull();
  const later = await handleTaskSend(deps, { message: "Hello again" });
  expect(await handleTaskGet(later.id)).toMatchObject({ id: later.id });
  expect(await handleTaskGet(deps, later.id)).toMatchObject({ id: later.id });
});

it(
  seed.example("Exported Functions › buildAgentCard", "returns the card of the first agent, with the given address"),
  async () => {
    await using testServer = await serveScript(async () => "done", { ...HOME, skills: [SKILL] });
    const deps = { server: testServer.server };
    const served = await get(`${testServer.url}/.well-known/agent-card.json`);
    expect(await buildAgentCard(undefined, deps)).toEqual(served.json);
    const card = await buildAgentCard("https://agent.example.com", deps);
    expect(card).toMatchObject({ name: "Scripted", version: "1.0.0", skills: [SKILL] });
    expect(card.url).toMatch(/^https:\/\/agent\.example\.com/);
    // The dialect is not a binding of the protocol, so the card does not list it.
    const bindings = card.supportedInterfaces?.map(({ protocolBinding }) => protocolBinding) ?? [];
    expect(bindings.filter((binding) => !["JSONRPC", "HTTP+JSON", "GRPC"].includes(binding))).toEqual([
      expect.stringMatching(/^\w+:/),
    ]);
  },
);

it(seed.example("Exported Functions › buildAgentCardForAgent", "returns the card of the given agent"), async () => {
  const second = scripted(async () => "done", { id: "second", name: "Second", skills: [SKILL] });
  await using testServer = await serveAgents([scripted(async () => "done", { id: "first" }), second]);
  const card = await buildAgentCardForAgent(second, "https://agent.example.com", { server: testServer.server });
  expect(card).toMatchObject({ name: "Second", skills: [SKILL] });
  expect(card.url).toMatch(/^https:\/\/agent\.example\.com\/agents\/second/);
});

it(
  seed.example(
    "Configuration › PORT and BIND_HOST",
    "set the address that the server listens on and that the card contains",
  ),
  async () => {
    vi.stubEnv("PORT", "0");
    vi.stubEnv("BIND_HOST", "127.0.0.1");
    const server = createServer(
      scripted(async () => "done", HOME),
      { store: "memory:", drainTimeout: 0, logger: { debug() {}, info() {}, warn() {}, error() {} } },
    );
    vi.unstubAllEnvs();
    try {
      const { url } = await server.listen();
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      const card = await get(`${url}/.well-known/agent-card.json`);
      expect(textAt(card.json, "url").startsWith(url)).toBe(true);
      const { id } = await sendTask(url, { message: "Hello" });
      expect(at(await endedTask(url, id), "state")).toBe("completed");
    } finally {
      await server.close();
    }
  },
);
