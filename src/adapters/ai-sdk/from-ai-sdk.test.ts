import { type LanguageModel, ToolLoopAgent, type ToolSet, tool } from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ContextId } from "../../protocol/ids.ts";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { toolResultPart, toolUseOf } from "../../protocol/tool-part.ts";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import type { FrameworkOptions } from "../frameworks/framework-options.ts";
import { type Answer, type ModelServer, openModelServer, type WireMessage } from "../models/test/model-server.ts";
import { fromAiSdk } from "./from-ai-sdk.ts";

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

const card = { name: "Assistant", description: "Helps.", version: "1" };

const NEED_APPROVAL = ["wipe", "transfer"];

async function serve(tools: ToolSet = {}, options: Partial<FrameworkOptions> = {}): Promise<void> {
  // Safe cast: the model server creates its model with a provider of the AI SDK.
  const model = server.model as unknown as LanguageModel;
  const loop = new ToolLoopAgent({
    model,
    instructions: "Be short.",
    tools,
    toolApproval: ({ toolCall }) => (NEED_APPROVAL.includes(toolCall.toolName) ? "user-approval" : undefined),
    maxRetries: 0,
    onError: () => {},
  });
  harness = await openHarness({ agents: fromAiSdk(loop, { ...card, ...options }) });
}

const resultText = (task: Task) => textOf(task.artifacts?.[0]?.parts ?? []);
const call = (name: string, input = "{}", id = "c1"): Answer => ({ calls: [{ id, name, input }] });
const isAfterTool = (messages: readonly WireMessage[]) => messages.at(-1)?.role === "tool";
const lastContent = (messages: readonly WireMessage[]) => JSON.stringify(messages.at(-1)?.content);

describe("an agent of the AI SDK", () => {
  test("streams its text, reports its tools and counts usage", async () => {
    script = (messages) =>
      isAfterTool(messages)
        ? { text: ["It has ", "21 degrees."] }
        : { text: ["Let me see."], ...call("weather", '{"city":"Ulm"}') };
    await serve({
      weather: tool({
        description: "The weather of a city.",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => ({ city, degrees: 21 }),
      }),
    });
    const task = await harness.send("How is Ulm?");
    expect(task.status.state).toBe("completed");
    expect(resultText(task)).toBe("Let me see.\n\nIt has 21 degrees.");
    expect(task.metadata).toEqual({
      usage: {
        inputTokens: 20,
        outputTokens: 4,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        modelCalls: 2,
        toolCalls: 1,
      },
    });
    expect(server.calls[0]).toMatchObject([
      { role: "system", content: "Be short." },
      { role: "user", content: "How is Ulm?" },
    ]);
    const story = await harness.story(task.id);
    expect(story).toContain("result+=21 degrees.");
    expect(story.filter((line) => line.startsWith("working:{"))).toEqual([
      'working:{"toolUseId":"c1","name":"weather","input":{"city":"Ulm"}}',
      'working:{"toolUseId":"c1","result":{"city":"Ulm","degrees":21}}',
    ]);
  });

  test("remembers the conversation of its caller, unless each task is alone", async () => {
    script = (messages) => ({ text: [`I know ${messages.length}.`] });
    await serve();
    const say = (text: string, owner: string) =>
      harness.send({ contextId: "chat" as ContextId, parts: [{ text }] }, { owner });
    await say("one", "ann");
    await say("secret", "bob");
    await harness.advance(10);
    await say("two", "ann");
    expect(server.calls.at(-1)?.map(({ role, content }) => [role, content])).toEqual([
      ["system", "Be short."],
      ["user", "one"],
      ["assistant", "I know 2."],
      ["user", "two"],
    ]);
    await harness[Symbol.asyncDispose]();
    await serve({}, { thread: "task" });
    await say("one", "ann");
    await say("two", "ann");
    expect(server.calls.at(-1)).toHaveLength(2);
  });

  test("asks for approval, and the model gets the caller's refusal", async () => {
    let runs = 0;
    script = (messages) => (isAfterTool(messages) ? { text: [lastContent(messages)] } : call("wipe", '{"disk":"c"}'));
    await serve({
      wipe: tool({ inputSchema: z.object({ disk: z.string() }), execute: () => ++runs }),
    });
    const asked = await harness.send("go");
    expect(asked.status.state).toBe("input-required");
    expect(asked.status.message?.parts[0]?.text).toBe('Run the tool wipe with {"disk":"c"}?');
    const refused = await harness.send({
      taskId: asked.id,
      parts: [{ data: { approved: false, reason: "Too much." } }],
    });
    expect(resultText(refused)).toContain("Too much.");
    expect(runs).toBe(0);
    const again = await harness.send("go");
    const done = await harness.send({ taskId: again.id, parts: [{ text: "yes" }] });
    expect(done.status.state).toBe("completed");
    expect(runs).toBe(1);
    expect((await harness.story(again.id)).filter((line) => line.startsWith("working:{"))).toEqual([
      'working:{"toolUseId":"c1","name":"wipe","input":{"disk":"c"}}',
      'working:{"toolUseId":"c1","result":1}',
    ]);
  });

  test("an approval may be given a day later, after a crash and a park: the tool runs once, the model is called twice", async () => {
    let runs = 0;
    script = (messages) => (isAfterTool(messages) ? { text: ["Done."] } : call("transfer"));
    await serve({ transfer: tool({ inputSchema: z.object({}), execute: () => ++runs }) });
    const asked = await harness.send("go");
    harness = await harness.crash();
    await harness.advance(24 * 3_600_000, 3_600_000);
    expect(harness.engine.counts().live).toBe(0);
    const done = await harness.send({ taskId: asked.id, parts: [{ data: { approved: true } }] });
    expect(resultText(done)).toBe("Done.");
    expect(runs).toBe(1);
    expect(server.calls).toHaveLength(2);
  });

  test("approves without a question where the options say so", async () => {
    let runs = 0;
    script = (messages) => (isAfterTool(messages) ? { text: ["Done."] } : call("transfer", '{"amount":5}'));
    const transfer = tool({ inputSchema: z.object({ amount: z.number() }), execute: () => ++runs });
    const isLarge = (input: unknown) => JSON.stringify(input) !== '{"amount":5}';
    await serve({ transfer }, { approve: ({ input }) => isLarge(input), toolEvents: false });
    const task = await harness.send("go");
    expect(task.status.state).toBe("completed");
    expect(runs).toBe(1);
    expect((await harness.story(task.id)).filter((line) => line.startsWith("working:{"))).toEqual([]);
  });

  test("lets the caller run a tool without `execute`", async () => {
    script = (messages) => (isAfterTool(messages) ? { text: [lastContent(messages)] } : call("clipboard", '{"n":1}'));
    await serve({ clipboard: tool({ inputSchema: z.object({ n: z.number() }) }) });
    const asked = await harness.send("go");
    const use = (asked.status.message?.parts ?? []).map(toolUseOf).find((part) => part !== undefined);
    expect(use).toMatchObject({ name: "clipboard", input: { n: 1 } });
    const part = toolResultPart({ toolUseId: use?.toolUseId ?? "", result: { text: "copied" } });
    expect(resultText(await harness.send({ taskId: asked.id, parts: [part] }))).toContain("copied");
  });

  test("does not repeat a stored step after a crash", async () => {
    let runs = 0;
    let reached = Promise.withResolvers<void>();
    let stalls = true;
    script = (messages) => {
      if (!isAfterTool(messages)) return { text: ["I pay."], ...call("pay") };
      if (!stalls) return { text: ["All", " done."] };
      reached.resolve();
      return { text: ["All"], stall: true };
    };
    await serve({ pay: tool({ inputSchema: z.object({}), execute: () => ++runs }) });
    const { taskId } = await harness.start("go");
    await reached.promise;
    await harness.until(async () => (await harness.story(taskId)).includes("result+=\n\nAll"), "the second text");
    stalls = false;
    reached = Promise.withResolvers<void>();
    harness = await harness.crash();
    await harness.untilState(taskId, "completed");
    expect(resultText(await harness.get(taskId))).toBe("I pay.\n\nAll done.");
    expect(runs).toBe(1);
    // The first model call is stored; the second was cut off and made again.
    expect(server.calls).toHaveLength(3);
    expect((await harness.story(taskId)).filter((line) => line === "result+=\n\nAll")).toHaveLength(1);
  });

  test("is aborted when the caller cancels", async () => {
    const reached = Promise.withResolvers<void>();
    script = () => {
      reached.resolve();
      return { text: ["I begin"], stall: true };
    };
    await serve();
    const { taskId } = await harness.start("go");
    await reached.promise;
    await harness.engine.cancel(harness.scope(), taskId);
    await harness.untilState(taskId, "canceled");
  });

  test("fails without the text of the provider's error, which is logged", async () => {
    script = () => ({ status: 401 });
    await serve();
    const task = await harness.send("go");
    expect(task.status.state).toBe("failed");
    expect(task.status.message?.parts).toMatchObject([
      { text: "The agent failed." },
      { data: { code: "agent-failed" } },
    ]);
    expect(harness.logs.filter(({ message }) => message === "The framework failed")).toHaveLength(1);
  });

  test("gets the error of a tool that throws, and readers see it", async () => {
    script = (messages) => (isAfterTool(messages) ? { text: [lastContent(messages)] } : call("pay"));
    await serve({
      pay: tool({
        inputSchema: z.object({}),
        execute: (): string => {
          throw new Error("No money.");
        },
      }),
    });
    const task = await harness.send("go");
    expect(resultText(task)).toContain("No money.");
    expect(await harness.story(task.id)).toContain(
      'working:{"toolUseId":"c1","result":{"isError":true,"message":"No money."}}',
    );
  });

  test("is refused at once if it is no agent of the AI SDK", () => {
    expect(() => fromAiSdk({} as never, card)).toThrow("must be an agent of the AI SDK");
  });
});
