import { expect, it } from "vitest";
import { at, type Frame, get, streamed, textAt } from "../exchange.ts";
import { agentMessage, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { runPrinted } from "../printed/run.ts";
import { resultsOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, type TestServer } from "../test-server.ts";
import { seed } from "./seed.ts";

const PROMPT = "Analyze sales and create report";
const INVOKING = "Invoking data analyzer...";
const RECEIVED = "Received analysis results, generating report...";

/** A main agent that calls a sub-agent as a client, with its own task id as reference. */
async function serveFlow(received: { sub?: readonly Frame[] } = {}): Promise<TestServer> {
  const main = scripted(
    async (task) => {
      await task.status(INVOKING);
      const message = userMessage("Analyze Q4 sales data", { messageId: "msg-3", referenceTaskIds: [task.id] });
      received.sub = await streamed(testServer.of("analyzer"), rpcRequest(2, "message/stream", { message }));
      await task.status(RECEIVED, { referenceTaskIds: [textAt(received.sub[0]?.json, "result.id")] });
      return `Report: ${textAt(received.sub[2]?.json, "result.artifact.parts.0.text")}`;
    },
    { id: "main" },
  );
  const analyzer = scripted(async () => "Q4 is up", { id: "analyzer" });
  const testServer = await serveAgents([main, analyzer]);
  return testServer;
}

/** The events of the main agent's stream, and of the sub-agent's. */
async function playFlow(): Promise<{ readonly main: readonly unknown[]; readonly sub: readonly unknown[] }> {
  const received: { sub?: readonly Frame[] } = {};
  await using testServer = await serveFlow(received);
  const message = userMessage(PROMPT, { messageId: "msg-1" });
  const main = resultsOf(await streamed(testServer.url, rpcRequest(1, "message/stream", { message })), 1);
  return { main, sub: resultsOf(received.sub ?? [], 2) };
}

it(seed.example("Flow Example › 1 Client invokes main agent", "the message creates a task"), async () => {
  const { main } = await playFlow();
  expect(main[0]).toMatchObject({ kind: "task", history: [{ messageId: "msg-1", parts: [textPart(PROMPT)] }] });
});

it(
  seed.example("Flow Example › 2 Main agent status", "the task is working, and its message says what comes next"),
  async () => {
    const { main } = await playFlow();
    const ids = idsOf(main[0]);
    expect(main[2]).toEqual(statusUpdate(ids, "working", { message: agentMessage(ids, INVOKING) }));
  },
);

it(
  seed.example(
    "Flow Example › 3 Main agent invokes sub-agent",
    "a reference to the parent task is stored with the message and continues no task",
  ),
  async () => {
    const { main, sub } = await playFlow();
    const parent = idsOf(main[0]);
    expect(sub[0]).toMatchObject({
      kind: "task",
      status: { state: "submitted" },
      history: [{ messageId: "msg-3", referenceTaskIds: [parent.taskId] }],
    });
    expect(idsOf(sub[0])).not.toEqual(parent);
  },
);

it(
  seed.example("Flow Example › 4 Sub-agent returns results", "the sub-agent has its own stream and task"),
  async () => {
    const { sub } = await playFlow();
    const ids = idsOf(sub[0]);
    expect(sub.slice(1).map((result) => at(result, "taskId"))).toEqual(sub.slice(1).map(() => ids.taskId));
    expect(sub.at(-1)).toEqual(statusUpdate(ids, "completed", { final: true }));
  },
);

it(seed.example("Flow Example › 5 Main agent continues", "the main agent continues with the results"), async () => {
  const { main, sub } = await playFlow();
  const ids = idsOf(main[0]);
  const metadata = { referenceTaskIds: [idsOf(sub[0]).taskId] };
  const message = agentMessage(ids, RECEIVED, metadata);
  expect(main[3]).toEqual(statusUpdate(ids, "working", { message, metadata }));
  expect(at(main[4], "artifact.parts.0.text")).toBe("Report: Q4 is up");
  expect(main.at(-1)).toEqual(statusUpdate(ids, "completed", { final: true }));
});

it(
  seed.example("Client Handling", "the printed program records the tasks that a status message refers to"),
  async () => {
    await using testServer = await serveFlow();
    async function* streamMessage(request: object): AsyncGenerator<unknown> {
      for (const { json } of await streamed(`${testServer.url}/api/a2a`, request)) yield json;
    }
    const { invokeWithSubAgents, taskRelations } = runPrinted<{
      invokeWithSubAgents(prompt: string): Promise<void>;
      readonly taskRelations: Map<string, readonly string[]>;
    }>("002-client-handling.txt", {
      names: ["invokeWithSubAgents", "taskRelations"],
      scope: { streamMessage, generateId: () => crypto.randomUUID() },
    });
    await invokeWithSubAgents(PROMPT);
    const [relation] = taskRelations;
    expect(taskRelations.size).toBe(1);
    const task = (agent: string, id: unknown) =>
      get(`${testServer.of(agent)}/v1/tasks/${String(id)}`, { "a2a-version": "0.3" });
    expect((await task("main", relation?.[0])).status).toBe(200);
    expect((await task("analyzer", relation?.[1][0])).status).toBe(200);
  },
);
