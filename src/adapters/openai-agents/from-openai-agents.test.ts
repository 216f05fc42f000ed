import { afterEach, describe, expect, test } from "vitest";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import { fromOpenAIAgents, type OpenAIAgentsOptions, openAIAgentsAgent } from "./from-openai-agents.ts";
import { type FakeTurn, fakeOpenAIAgents } from "./test/fake-openai-agents.ts";

let harness: EngineHarness | undefined;
afterEach(() => harness?.[Symbol.asyncDispose]());

const card = { name: "Assistant", description: "Helps.", version: "1" };
const result = (task: Task) => textOf(task.artifacts?.[0]?.parts ?? []);

async function serve(turns: readonly FakeTurn[], options: Partial<OpenAIAgentsOptions> = {}) {
  const fake = fakeOpenAIAgents(turns);
  const declared = openAIAgentsAgent({ name: "A" }, { ...card, ...options }, async () => fake.module);
  const engine = await openHarness({ agents: declared });
  harness = engine;
  return { engine, fake };
}

const look = { callId: "c", name: "look", arguments: '{"a":1}' };
const pay = { callId: "p", name: "pay", arguments: "broken", needsApproval: true };

describe("an agent of the OpenAI Agents SDK", () => {
  test("streams text, reports tools and counts usage", async () => {
    const { engine, fake } = await serve([{ text: ["Let ", "me."], calls: [look] }, { text: ["Done."] }]);
    const task = await engine.send({
      parts: [{ text: "go" }, { raw: "AAAA", mediaType: "image/png" }, { url: "https://example.org/a.pdf" }],
    });
    expect(result(task)).toBe("Let me.\n\nDone.");
    expect(task.metadata).toEqual({
      usage: { inputTokens: 6, outputTokens: 4, cachedInputTokens: 2, modelCalls: 2, toolCalls: 1 },
    });
    expect((await engine.story(task.id)).filter((line) => line.startsWith("working:{"))).toEqual([
      'working:{"toolUseId":"c","name":"look","input":{"a":1}}',
      'working:{"toolUseId":"c","result":"look ran"}',
    ]);
    expect(fake.inputs[0]).toEqual([
      {
        role: "user",
        content: [
          { type: "input_text", text: "go" },
          { type: "input_image", image: "data:image/png;base64,AAAA" },
          { type: "input_file", file: { url: "https://example.org/a.pdf" } },
        ],
      },
    ]);
  });

  test("asks for approval, and a day and a crash later continues from the stored run state", async () => {
    const { engine, fake } = await serve([{ calls: [pay] }, { text: ["Paid."] }]);
    const asked = await engine.send("go");
    expect(asked.status.message?.parts[0]?.text).toBe('Run the tool pay with "broken"?');
    const next = await engine.crash();
    await next.advance(24 * 3_600_000, 3_600_000);
    expect(result(await next.send({ taskId: asked.id, parts: [{ text: "yes" }] }))).toBe("Paid.");
    expect(fake.decisions).toEqual([["p", "approved"]]);
    expect(fake.modelCalls).toBe(2);
  });

  test("gets the reason of a refusal", async () => {
    const { engine, fake } = await serve([{ calls: [pay] }, { text: ["Well."] }]);
    const asked = await engine.send("go");
    await engine.send({ taskId: asked.id, parts: [{ data: { approved: false, reason: "Too much." } }] });
    expect(fake.decisions).toEqual([["p", "Too much."]]);
  });

  test("fails with a name if it calls the model too often", async () => {
    const { engine, fake } = await serve(
      Array.from({ length: 5 }, () => ({ calls: [look] })),
      { maxTurns: 3 },
    );
    const { status } = await engine.send("go");
    expect(status.message?.parts[0]?.text).toBe("The model was called 3 times without a final answer.");
    expect(fake.modelCalls).toBe(3);
  });

  test("that is no agent is refused, and a missing package is named", async () => {
    expect(() => fromOpenAIAgents({} as never, card)).toThrow("must be an agent of the OpenAI Agents SDK");
    const engine = await openHarness({ agents: fromOpenAIAgents({ name: "A" }, card) });
    harness = engine;
    expect((await engine.send("go")).status.state).toBe("failed");
    expect(JSON.stringify(engine.logs.map(({ details }) => String(Object(details)["error"])))).toContain(
      "npm install @openai/agents",
    );
  });
});
