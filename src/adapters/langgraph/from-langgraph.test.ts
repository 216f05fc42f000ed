import { afterEach, describe, expect, test } from "vitest";
import type { ContextId } from "../../protocol/ids.ts";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import { fromLangGraph, type LangGraphOptions, langGraphAgent } from "./from-langgraph.ts";
import { FakeGraph, fakeLangGraph, fakeMessage } from "./test/fake-graph.ts";

let harness: EngineHarness | undefined;
afterEach(() => harness?.[Symbol.asyncDispose]());

const card = { name: "Graph", description: "Runs a graph.", version: "1" };
const result = (task: Task) => textOf(task.artifacts?.[0]?.parts ?? []);

async function serve(graph: FakeGraph, options: Partial<LangGraphOptions> = {}): Promise<EngineHarness> {
  harness = await openHarness({ agents: langGraphAgent(graph, { ...card, ...options }, fakeLangGraph) });
  return harness;
}

describe("a graph", () => {
  test("streams text and tool calls that come in pieces", async () => {
    const graph = new FakeGraph([
      async ({ emit }) => {
        emit(fakeMessage("ai", "Let ", { id: "m1" }));
        emit(fakeMessage("ai", [{ type: "text", text: "me." }], { id: "m1" }));
        emit(
          fakeMessage("ai", "", { id: "m1", tool_call_chunks: [{ index: 0, id: "c", name: "look", args: '{"a":' }] }),
        );
        emit(fakeMessage("ai", "", { id: "m1", tool_call_chunks: [{ index: 0, args: "1}" }] }));
        emit(fakeMessage("ai", "", { id: "m1", usage_metadata: { input_tokens: 3, output_tokens: 2 } }));
      },
      async ({ emit }) => {
        emit(fakeMessage("tool", '{"seen":true}', { tool_call_id: "c" }));
        emit(fakeMessage("tool", "Lost.", { tool_call_id: "unknown", status: "error" }));
        emit(fakeMessage("human", "not shown"));
        emit(fakeMessage("ai", "Done.", { id: "m2", tool_calls: [{ id: "d", name: "end", args: {} }] }));
      },
    ]);
    const engine = await serve(graph);
    const task = await engine.send("go");
    expect(result(task)).toBe("Let me.\n\nDone.");
    expect(task.metadata).toEqual({ usage: { inputTokens: 3, outputTokens: 2, modelCalls: 1, toolCalls: 2 } });
    expect((await engine.story(task.id)).filter((line) => line.startsWith("working:{"))).toEqual([
      'working:{"toolUseId":"c","name":"look","input":{"a":1}}',
      'working:{"toolUseId":"c","result":{"seen":true}}',
      'working:{"toolUseId":"d","name":"end","input":{}}',
    ]);
    expect(graph.inputs).toEqual([{ messages: [{ role: "user", content: "go", id: task.history?.[0]?.messageId }] }]);
  });

  test("continues from its last stored superstep after a crash", async () => {
    let stalls = true;
    const stalled = Promise.withResolvers<void>();
    const graph = new FakeGraph([
      async ({ emit }) => emit(fakeMessage("ai", "One.", { id: "m1" })),
      async ({ emit }) => {
        emit(fakeMessage("ai", "Two.", { id: "m2" }));
        if (stalls) await stalled.promise;
      },
    ]);
    const engine = await serve(graph);
    const { taskId } = await engine.start("go");
    await engine.until(async () => (await engine.story(taskId)).includes("result+=\n\nTwo."), "the second text");
    stalls = false;
    const next = await engine.crash();
    await next.untilState(taskId, "completed");
    expect(result(await next.get(taskId))).toBe("One.\n\nTwo.");
    expect(graph.ran).toEqual([0, 1, 1]);
    expect(graph.inputs.at(-1)).toBeNull();
    stalled.resolve();
  });

  test("asks what it is interrupted for, and resumes with the answers by their interrupt", async () => {
    const id = "a".repeat(32);
    const actionRequests = [{ name: "pay", args: { amount: 5 } }, { name: "mail" }];
    const graph = new FakeGraph([async ({ interrupt }) => interrupt(id, { actionRequests })]);
    const engine = await serve(graph, { approve: ({ name }) => name === "pay" });
    const asked = await engine.send("go");
    expect(asked.status.message?.parts[0]?.text).toBe('Run the tool pay with {"amount":5}?');
    await engine.send({ taskId: asked.id, parts: [{ data: { approved: false, reason: "No." } }] });
    expect(graph.inputs.at(-1)).toEqual({
      resume: { [id]: { decisions: [{ type: "reject", message: "No." }, { type: "approve" }] } },
    });
  });

  test("with a checkpointer of its own has one thread per caller and context, and gets only the new message", async () => {
    const graph = new FakeGraph([async ({ emit }) => emit(fakeMessage("ai", "Yes."))]);
    graph.checkpointer = {};
    const engine = await serve(graph);
    const say = (text: string, owner: string) =>
      engine.send({ contextId: "chat" as ContextId, parts: [{ text }] }, { owner });
    await say("one", "ann");
    await say("two", "ann");
    await say("three", "bob");
    expect(graph.inputs).toMatchObject(["one", "two", "three"].map((content) => ({ messages: [{ content }] })));
    expect(new Set(graph.threads).size).toBe(2);
  });

  test("that is no graph is refused, and a missing package is named", async () => {
    expect(() => fromLangGraph({} as never, card)).toThrow("must be a compiled graph of LangGraph");
    harness = await openHarness({ agents: fromLangGraph(new FakeGraph([]), card) });
    expect((await harness.send("go")).status.state).toBe("failed");
    expect(JSON.stringify(harness.logs.map(({ details }) => String(Object(details)["error"])))).toContain(
      "npm install @langchain/langgraph",
    );
  });
});
