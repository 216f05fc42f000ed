import { MockLanguageModelV4 } from "ai/test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ContextId } from "../../protocol/ids.ts";
import { toolResultPart, toolUseOf } from "../../protocol/tool-part.ts";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import { type ModelAgentOptions, modelAgent } from "./model-agent.ts";
import { type Answer, type ModelServer, openModelServer, type WireMessage } from "./test/model-server.ts";
import { tool } from "./tool.ts";

let harness: EngineHarness;
let server: ModelServer;
let script: (messages: readonly WireMessage[], call: number) => Answer;
beforeEach(async () => {
  server = await openModelServer((messages, call) => script(messages, call));
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const identity = { name: "Assistant", description: "Helps.", version: "1" };

async function serve(options: Partial<ModelAgentOptions>): Promise<void> {
  harness = await openHarness({ agents: modelAgent({ ...identity, model: server.model, ...options }) });
}

const resultText = (task: {
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}) => task.artifacts?.[0]?.parts.map(({ text }) => text).join("");

const call = (name: string, input = "{}", id = "c1"): Answer => ({ calls: [{ id, name, input }] });
const lastContent = (messages: readonly WireMessage[]) => JSON.stringify(messages.at(-1)?.content);

describe("an agent with a model", () => {
  test("streams the model's text, runs tools with validated input, and counts usage", async () => {
    script = (messages) =>
      messages.at(-1)?.role === "tool"
        ? { text: ["It has ", "21 degrees."] }
        : { text: ["Let me see."], ...call("weather", '{"city":"Ulm"}') };
    const weather = tool({
      description: "The weather of a city.",
      input: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, degrees: 21 }),
    });
    await serve({ instructions: "Be short.", tools: { weather } });
    const task = await harness.send("How is Ulm?");
    expect(task.status.state).toBe("completed");
    expect(resultText(task)).toBe("Let me see.\n\nIt has 21 degrees.");
    expect(task.metadata).toEqual({
      usage: {
        inputTokens: 20,
        cachedInputTokens: 0,
        outputTokens: 4,
        reasoningTokens: 0,
        modelFailures: 0,
        modelCalls: 2,
        toolCalls: 1,
      },
    });
    expect(server.calls[0]).toMatchObject([
      { role: "system", content: "Be short." },
      { role: "user", content: "How is Ulm?" },
    ]);
    expect(lastContent(server.calls[1] ?? [])).toContain("degrees");
    const story = await harness.story(task.id);
    expect(story).toContain("result+=21 degrees.");
    expect(story.filter((line) => line.startsWith("working:{"))).toEqual([
      'working:{"toolUseId":"1.1-c1","name":"weather","input":{"city":"Ulm"}}',
      'working:{"toolUseId":"1.1-c1","result":{"city":"Ulm","degrees":21}}',
    ]);
  });

  test("works with any model that has the interface of AI SDK 7", async () => {
    const stream = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-delta", id: "1", delta: "Hello." });
          controller.enqueue({
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
          });
          controller.close();
        },
      });
    const model = new MockLanguageModelV4({ doStream: async () => ({ stream: stream() }) });
    await serve({ model });
    expect(resultText(await harness.send("Hi"))).toBe("Hello.");
    expect(model.doStreamCalls).toHaveLength(1);
  });

  test("remembers the conversation of its caller, within the budget, with a summary of the rest", async () => {
    script = (messages) => ({ text: [`I know ${messages.length} messages.`] });
    const summarized: number[] = [];
    await serve({
      history: {
        maxTokens: 10,
        summarize: async (older) => {
          summarized.push(older.length);
          return "They met.";
        },
      },
    });
    const say = (text: string, owner: string) =>
      harness.send({ contextId: "chat" as ContextId, parts: [{ text }] }, { owner });
    await say("one", "ann");
    await harness.advance(10);
    await say("secret", "bob");
    await harness.advance(10);
    await say("two", "ann");
    expect(server.calls.at(-1)?.map(({ role, content }) => [role, content])).toEqual([
      ["user", "one"],
      ["assistant", "I know 1 messages."],
      ["user", "two"],
    ]);
    for (const text of ["three", "four"]) {
      await harness.advance(10);
      await say(text, "ann");
    }
    expect(summarized.length).toBeGreaterThan(0);
    expect(JSON.stringify(server.calls.at(-1))).toContain("Summary of the conversation so far: They met.");
    expect(JSON.stringify(server.calls.at(-1))).not.toContain("secret");
  });

  test("asks for approval, and passes a refusal to the model", async () => {
    let runs = 0;
    script = (messages) => (messages.at(-1)?.role === "tool" ? { text: [lastContent(messages)] } : call("wipe"));
    const wipe = tool({ description: "Deletes all.", approve: true, execute: () => ++runs });
    await serve({ tools: { wipe } });
    const asked = await harness.send("go");
    expect(asked.status.message?.parts[0]?.text).toBe("Run the tool wipe?");
    const refused = await harness.send({
      taskId: asked.id,
      parts: [{ data: { approved: false, reason: "Too much." } }],
    });
    expect(resultText(refused)).toContain("The caller declined this call: Too much.");
    expect(runs).toBe(0);
    const again = await harness.send("go");
    await harness.send({ taskId: again.id, parts: [{ text: "yes" }] });
    expect(runs).toBe(1);
  });

  test("an approval may be given a day later, after a crash and a park: the tool runs once, the model is called twice", async () => {
    let runs = 0;
    script = (messages) => (messages.at(-1)?.role === "tool" ? { text: ["Done."] } : call("pay"));
    await serve({ tools: { pay: tool({ description: "Pays.", approve: true, execute: () => ++runs }) } });
    const asked = await harness.send("go");
    harness = await harness.crash();
    await harness.advance(24 * 3_600_000, 3_600_000);
    expect(harness.engine.counts().live).toBe(0);
    const done = await harness.send({ taskId: asked.id, parts: [{ data: { approved: true } }] });
    expect(resultText(done)).toBe("Done.");
    expect(runs).toBe(1);
    expect(server.calls).toHaveLength(2);
  });

  test("lets the caller run a tool without `execute`", async () => {
    script = (messages) =>
      messages.at(-1)?.role === "tool" ? { text: [lastContent(messages)] } : call("clipboard", '{"n":1}');
    await serve({
      tools: { clipboard: tool({ description: "Reads the clipboard.", input: z.object({ n: z.number() }) }) },
    });
    const asked = await harness.send("go");
    const use = (asked.status.message?.parts ?? []).map(toolUseOf).find((part) => part !== undefined);
    expect(use).toMatchObject({ name: "clipboard", input: { n: 1 } });
    const part = toolResultPart({ toolUseId: use?.toolUseId ?? "", result: { text: "copied" } });
    expect(resultText(await harness.send({ taskId: asked.id, parts: [part] }))).toContain("copied");
  });
});

describe("hostile output of a model", () => {
  test.each([
    ["an unknown tool", call("rm -rf"), "There is no tool"],
    ["a tool name of every object", call("__proto__"), "There is no tool"],
    ["broken JSON", call("echo", '{"x":'), "not valid JSON"],
    ["input that the schema refuses", call("echo", '{"x":1}'), "The input is not valid"],
    ["an empty id", call("echo", '{"x":"ok"}', ""), "ok"],
    ["an id of 10,000 characters", call("echo", '{"x":"ok"}', "i".repeat(10_000)), "ok"],
  ])("%s is an outcome for the model", async (_, answer, expected) => {
    script = (messages) => (messages.at(-1)?.role === "tool" ? { text: [lastContent(messages)] } : answer);
    await serve({
      tools: { echo: tool({ description: "Echo.", input: z.object({ x: z.string() }), execute: ({ x }) => x }) },
    });
    const task = await harness.send("go");
    expect(task.status.state).toBe("completed");
    expect(resultText(task)).toContain(expected);
  });

  test("two calls with one id are two calls", async () => {
    const seen: string[] = [];
    script = (messages) =>
      messages.at(-1)?.role === "tool"
        ? { text: ["done"] }
        : { calls: ["a", "b"].map((x) => ({ id: "same", name: "note", input: JSON.stringify({ x }) })) };
    const note = tool({ description: "Notes.", input: z.object({ x: z.string() }), execute: ({ x }) => seen.push(x) });
    await serve({ tools: { note } });
    await harness.send("go");
    expect(seen.toSorted()).toEqual(["a", "b"]);
  });

  test("completes without another model call if stopWhen says so after a tool call", async () => {
    script = () => ({ text: ["Saved."], ...call("save") });
    const saved: string[] = [];
    const save = tool({ description: "Saves.", execute: () => saved.push("once") });
    await serve({ tools: { save }, stopWhen: ({ reply }) => reply.calls.some(({ name }) => name === "save") });
    const task = await harness.send("Save it");
    expect(task.status.state).toBe("completed");
    expect(resultText(task)).toBe("Saved.\n\n");
    expect({ saved, usage: task.metadata?.["usage"] }).toMatchObject({ saved: ["once"], usage: { modelCalls: 1 } });
  });

  test("an endless loop of tool calls ends the task with a name", async () => {
    script = () => call("noop");
    await serve({ maxModelCalls: 3, tools: { noop: tool({ description: "Nothing.", execute: () => null }) } });
    const { status } = await harness.send("go");
    expect(status).toMatchObject({
      state: "failed",
      message: { parts: [{ text: expect.stringContaining("3 times") }] },
    });
    expect(server.calls).toHaveLength(3);
  });

  test("more text than allowed fails the task; it is not called again", async () => {
    script = () => ({ text: Array.from({ length: 40 }, () => "x".repeat(256 * 1024)) });
    await serve({});
    const { status } = await harness.send("go");
    expect(status).toMatchObject({
      state: "failed",
      message: { parts: [{ text: "The model's answer is too large." }] },
    });
    expect(server.calls).toHaveLength(1);
  });

  test("a tool that throws or takes too long is an outcome for the model", async () => {
    script = (messages) =>
      messages.at(-1)?.role === "tool"
        ? { text: [JSON.stringify(messages.slice(-2).map(({ content }) => content))] }
        : { calls: ["broken", "slow"].map((name) => ({ id: name, name, input: "" })) };
    const broken = tool({
      description: "Breaks.",
      execute() {
        throw new Error("no batteries");
      },
    });
    const slow = tool({ description: "Slow.", timeout: 20, execute: () => new Promise<never>(() => {}) });
    await serve({ tools: { broken, slow } });
    const text = resultText(await harness.send("go"));
    expect(text).toContain("no batteries");
    expect(text).toContain("did not finish within 20 ms");
  });
});

describe("failures of a provider", () => {
  test.each([
    ["429", { status: 429 }],
    ["500", { status: 500 }],
    ["a stall", { text: ["Hel"], stall: true }],
    ["a cut stream", { text: ["Hel"], cut: true }],
    ["a cut stream with other text", { text: ["Good morn"], cut: true }],
  ] as const)("after %s the model is called again, and readers get the text once", async (_, failure: Answer) => {
    script = (_messages, count) => (count === 1 ? failure : { text: ["Hel", "lo."] });
    await serve({ stallTimeout: 200 });
    const task = await harness.send("go");
    expect(task.status.state).toBe("completed");
    expect(resultText(task)).toBe("Hello.");
    expect(server.calls).toHaveLength(2);
    expect(task.metadata).toMatchObject({ usage: { modelCalls: 1, modelFailures: 1 } });
  });

  test("the next model is called if one does not answer; a permanent error is not retried", async () => {
    script = (_messages, count) => (count === 1 ? { status: 401 } : { text: ["Second."] });
    await serve({ model: [server.model, server.model] });
    expect(resultText(await harness.send("go"))).toBe("Second.");
    expect(server.calls).toHaveLength(2);
  });

  test("if no model answers, the task fails without details of the provider", async () => {
    script = () => ({ status: 400 });
    await serve({});
    const task = await harness.send("go");
    expect(task.status.state).toBe("failed");
    expect(task.status.message?.parts).toContainEqual({ text: "The model did not answer." });
    expect(JSON.stringify(task)).not.toContain("secret detail");
  });
});

test("a declaration without a model is refused", async () => {
  script = () => ({});
  await serve({});
  expect(() => modelAgent({ ...identity, model: {} as never })).toThrow(
    "`model` must be a model of an AI SDK provider",
  );
});
