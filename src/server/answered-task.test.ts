import { describe, expect, it } from "vitest";
import { agent } from "../engine/agent/agent.ts";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import { inputRequestsOf } from "../protocol/input-request.ts";
import type { Part } from "../protocol/part.ts";
import { toolResultPart } from "../protocol/tool-part.ts";
import { EngineHarness } from "../testing/engine-harness.ts";
import { answeredTask } from "./answered-task.ts";
import { createService, type Service } from "./service.ts";

const asker = agent({
  name: "Asker",
  description: "Wants a tool used.",
  version: "1",
  run: async (task) => task.ask("Look, please.", { tool: { name: "search" } }),
});

async function openQuestion(harness: EngineHarness): Promise<{ service: Service; id: TaskId; question: string }> {
  const task = await harness.send("x");
  const { requestId } = (task.status.message?.metadata?.["inputRequest"] ?? {}) as { requestId: string };
  const service = createService({ agent: asker, engine: harness.engine, interfaces: [] });
  return { service, id: task.id, question: requestId };
}

const message = (parts: readonly Part[], referenceTaskIds: readonly TaskId[], members: object = {}): never =>
  // Safe: only these members are read.
  ({ messageId: "m", role: "user", parts, referenceTaskIds, ...members }) as never;

describe("A message that answers a question by reference", () => {
  it("goes to the task that asked the question", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const { service, id, question } = await openQuestion(harness);
    const parts = [{ text: "Here:" }, toolResultPart({ toolUseId: question, result: 1 })];
    expect(await answeredTask(service, harness.scope(), message(parts, [id]))).toBe(id);
  });

  it("starts a new task in every other case", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const { service, id, question } = await openQuestion(harness);
    const answer = toolResultPart({ toolUseId: question, result: 1 });
    const other = toolResultPart({ toolUseId: "another", result: 1 });
    const scope = harness.scope();
    for (const unfit of [
      message([{ text: "yes" }], [id]),
      message([other], [id]),
      message([answer], []),
      message([answer], [id, "second" as TaskId]),
      message([answer], ["unknown" as TaskId]),
      message([answer], [id], { taskId: id }),
    ]) {
      expect(await answeredTask(service, scope, unfit)).toBeUndefined();
    }
    const stranger = harness.scope({ owner: "somebody else" });
    expect(await answeredTask(service, stranger, message([answer], [id]))).toBeUndefined();
    await harness.send({ taskId: id, parts: [answer] });
    expect(await answeredTask(service, scope, message([answer], [id]))).toBeUndefined();
  });

  it("goes to the task that asked this question among others", async () => {
    const many = agent({
      name: "Many",
      description: "Asks two questions at once.",
      version: "1",
      run: async (task) => (await Promise.all([task.ask("First?"), task.ask("Second?")])).join(),
    });
    await using harness = await EngineHarness.open({ agents: many });
    const task = await harness.send("x");
    const service = createService({ agent: many, engine: harness.engine, interfaces: [] });
    for (const { requestId } of inputRequestsOf(task.status.message)) {
      const answer = toolResultPart({ toolUseId: requestId, result: 1 });
      expect(await answeredTask(service, harness.scope(), message([answer], [task.id]))).toBe(task.id);
    }
  });

  it("goes to the same task again within the idempotency window", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const { service, id, question } = await openQuestion(harness);
    const once = { ...service, idempotencyWindow: 1000 };
    const answer = toolResultPart({ toolUseId: question, result: 1 });
    expect(await answeredTask(once, harness.scope(), message([answer], [id]))).toBe(id);
    await harness.send({ messageId: "m" as MessageId, taskId: id, parts: [answer] });
    expect(await answeredTask(once, harness.scope(), message([answer], [id]))).toBe(id);
    expect(await answeredTask(once, harness.scope(), message([answer], [id], { messageId: "other" }))).toBeUndefined();
  });
});
