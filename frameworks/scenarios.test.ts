import { setTimeout as sleep } from "node:timers/promises";
import { type AgentClient, connect, type Task, textOf } from "palaver/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  openScriptServer,
  type PromptMessage,
  type ScriptedAnswer,
  type ScriptServer,
} from "./support/script-server.ts";
import { ServerProcess } from "./support/server-process.ts";

const FRAMEWORKS = [
  ["the AI SDK", "agents/ai-sdk.ts"],
  ["LangGraph", "agents/langgraph.ts"],
  ["the OpenAI Agents SDK", "agents/openai-agents.ts"],
] as const;

const isAfterTool = (prompt: readonly PromptMessage[]) => prompt.at(-1)?.role === "tool";
const call = (name: string, input: object): ScriptedAnswer => ({
  calls: [{ id: `${name}-1`, name, input: JSON.stringify(input) }],
});
const resultText = (task: Task | undefined) => textOf(task?.artifacts?.[0]?.parts ?? []);
const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isTrue())) await sleep(10);
};

describe.each(FRAMEWORKS)("an agent of %s, served by a real process", (_, module) => {
  let models: ScriptServer;
  let server: ServerProcess;
  let agent: AgentClient;
  beforeAll(async () => {
    models = await openScriptServer();
    server = new ServerProcess(module, models.url);
    agent = await connect(await server.start());
  });
  beforeEach(() => {
    models.prompts.length = 0;
    models.tools.length = 0;
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await models[Symbol.asyncDispose]();
  });

  async function send(input: string, options: Parameters<AgentClient["send"]>[1] = {}): Promise<Task> {
    const sent = await agent.send(input, options);
    if (sent.kind !== "task") throw new Error("Expected a task.");
    return sent.task;
  }

  async function restart(): Promise<void> {
    await server.kill();
    agent = await connect(await server.start());
  }

  test("streams text, reports the tool call and its result, and counts usage", async () => {
    models.script = (prompt) =>
      isAfterTool(prompt)
        ? { text: ["It has ", "21 degrees."] }
        : { text: ["Let me see."], ...call("weather", { city: "Ulm" }) };
    const texts: string[] = [];
    const reports: unknown[] = [];
    const stream = agent.stream("How is Ulm?");
    for await (const event of stream) {
      if (event.kind === "artifact") texts.push(textOf(event.artifact.parts));
      if (event.kind !== "status") continue;
      for (const part of event.status.message?.parts ?? []) if ("data" in part) reports.push(part.data);
    }
    expect(texts.filter((text) => text !== "")).toEqual(["Let me see.", "\n\nIt has ", "21 degrees."]);
    expect(reports).toEqual([
      { toolUseId: "weather-1", name: "weather", input: { city: "Ulm" } },
      { toolUseId: "weather-1", result: { city: "Ulm", degrees: 21 } },
    ]);
    const task = await agent.task(stream.task?.id ?? "").get();
    expect(task.status.state).toBe("completed");
    expect(task.metadata?.["usage"]).toMatchObject({ inputTokens: 20, outputTokens: 4, modelCalls: 2, toolCalls: 1 });
  });

  test("asks for approval: a refusal reaches the model, an approval runs the tool", async () => {
    models.script = (prompt) =>
      isAfterTool(prompt) ? { text: [prompt.at(-1)?.text ?? ""] } : call("pay", { amount: 5 });
    const asked = await send("Pay.");
    expect(asked.status.state).toBe("input-required");
    expect(asked.status.message?.parts[0]?.text).toBe('Run the tool pay with {"amount":5}?');
    const refused = await agent.send([{ data: { approved: false, reason: "Too much." } }], { taskId: asked.id });
    expect(refused.kind === "task" && refused.task.status.state).toBe("completed");
    expect(resultText(refused.kind === "task" ? refused.task : undefined)).toContain("Too much.");
    expect(models.tools).toEqual([]);
    const paid = await send("Pay.", { onInput: () => "yes" });
    expect(resultText(paid)).toContain("paid");
    expect(models.tools).toEqual(["pay"]);
  });

  test("an approval may be given after `kill -9`: the tool runs once, and no stored model call is repeated", async () => {
    models.script = (prompt) => (isAfterTool(prompt) ? { text: ["Paid."] } : call("pay", { amount: 5 }));
    const asked = await send("Pay.");
    await restart();
    const answered = await agent.send([{ data: { approved: true } }], { taskId: asked.id });
    expect(resultText(answered.kind === "task" ? answered.task : undefined)).toBe("Paid.");
    expect(models.tools).toEqual(["pay"]);
    expect(models.prompts).toHaveLength(2);
  });

  test("after `kill -9` during the second model call only that call is made again, and readers see each text once", async () => {
    let stall = true;
    models.script = (prompt) => {
      if (!isAfterTool(prompt)) return { text: ["Let me see."], ...call("weather", { city: "Ulm" }) };
      return stall ? { text: ["It has"], stall } : { text: ["It has", " 21 degrees."] };
    };
    const { id } = await send("How is Ulm?", { wait: false });
    const text = async () => resultText(await agent.task(id).get());
    await until(async () => (await text()) === "Let me see.\n\nIt has");
    stall = false;
    await restart();
    const done = await agent.task(id).wait();
    expect(done.status.state).toBe("completed");
    expect(resultText(done)).toBe("Let me see.\n\nIt has 21 degrees.");
    expect(models.tools).toEqual(["weather"]);
    expect(models.prompts.map(isAfterTool)).toEqual([false, true, true]);
    expect(done.metadata?.["usage"]).toMatchObject({ inputTokens: 20, modelCalls: 2, toolCalls: 1 });
  });

  test("is aborted when the caller cancels", async () => {
    models.script = () => ({ text: ["I begin"], stall: true });
    const { id } = await send("Go.", { wait: false });
    await until(async () => resultText(await agent.task(id).get()) === "I begin");
    const canceled = await agent.task(id).cancel();
    expect(canceled.status.state).toBe("canceled");
  });

  test("fails with a code, and without the text of the model's error", async () => {
    models.script = () => ({ error: "secret detail" });
    const failed = await send("Go.");
    expect(failed.status.state).toBe("failed");
    expect(failed.status.message?.parts).toMatchObject([
      { text: "The agent failed." },
      { data: { code: "agent-failed" } },
    ]);
    expect(JSON.stringify(failed)).not.toContain("secret");
  });

  test("remembers the conversation, also after `kill -9`", async () => {
    models.script = (prompt) => ({ text: [`I know ${prompt.length}.`] });
    const first = await send("one");
    await restart();
    await agent.send("two", { contextId: first.contextId });
    expect(models.prompts.at(-1)).toEqual([
      { role: "user", text: "one" },
      { role: "assistant", text: "I know 1." },
      { role: "user", text: "two" },
    ]);
    await send("elsewhere");
    expect(models.prompts.at(-1)).toEqual([{ role: "user", text: "elsewhere" }]);
  });
});
