import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, openModelServer, type WireMessage } from "./test/model-server.ts";
import { partsOf, serveModel } from "./test/serve-model.ts";
import { tool } from "./tool.ts";

const CITY = z.object({ city: z.string(), people: z.number() });
const VALID = '{"city":"Ulm","people":130000}';

function answers(...list: readonly Answer[]): (messages: readonly WireMessage[], call: number) => Answer {
  return (_messages, call) => list[call - 1] ?? {};
}

describe("an answer by a schema", () => {
  test("is asked for in the call and in words, and becomes a data part", async () => {
    await using server = await openModelServer(answers({ text: ['{"city":"Ulm",', '"people":130000}'] }));
    await using harness = await serveModel({ model: server.model, output: CITY, instructions: "Be exact." });
    const task = await harness.send("Ulm?");
    expect(partsOf(task, "result")).toEqual([{ data: { city: "Ulm", people: 130_000 } }]);
    expect(server.requests[0]?.response_format).toEqual({ type: "json_object" });
    const system = String(server.calls[0]?.[0]?.content);
    expect(system).toMatch(/^Be exact\.\n\nYour final answer must be one JSON value/);
    expect(system).toContain('"people":{"type":"number"}');
    // The JSON text itself is not streamed.
    expect((await harness.story(task.id)).filter((line) => line.startsWith("result"))).toHaveLength(1);
  });

  test("may stand in a block of Markdown, and the value is the one that the schema returns", async () => {
    await using server = await openModelServer(answers({ text: ['```json\n{"n":"7"}\n```'] }));
    const output = z.object({ n: z.string().transform(Number) });
    await using harness = await serveModel({ model: server.model, output });
    expect(partsOf(await harness.send("?"), "result")).toEqual([{ data: { n: 7 } }]);
  });

  test("goes back to the model with its problems, and may come after tool calls", async () => {
    await using server = await openModelServer(
      answers(
        { text: ["Let me look."], calls: [{ id: "c", name: "look", input: "{}" }] },
        { text: ["It is Ulm."] },
        { text: ['{"city":"Ulm","people":"many"}'] },
        { text: [VALID] },
      ),
    );
    const look = tool({ description: "Looks.", execute: () => "Ulm" });
    await using harness = await serveModel({ model: server.model, output: CITY, tools: { look } });
    const task = await harness.send("?");
    expect(partsOf(task, "result")).toEqual([{ data: { city: "Ulm", people: 130_000 } }]);
    const asked = server.calls.map((messages) => String(messages.at(-1)?.content));
    expect(asked[2]).toContain("It is not JSON");
    expect(asked[3]).toContain("people: Invalid input: expected number");
    expect(server.calls[3]?.at(-2)).toMatchObject({ role: "assistant", content: '{"city":"Ulm","people":"many"}' });
    expect(task.metadata).toMatchObject({ usage: { modelCalls: 4 } });
  });

  test("is repaired only so often; then the task fails with a name", async () => {
    await using server = await openModelServer(() => ({ text: ["no"] }));
    await using harness = await serveModel({ model: server.model, output: CITY, maxRepairs: 1 });
    const { status } = await harness.send("?");
    expect(status.state).toBe("failed");
    expect(status.message?.parts[0]?.text).toContain("The model's answer does not have the requested form");
    expect(server.calls).toHaveLength(2);
  });

  test("an invalid answer is not asked for again after a crash", async () => {
    const pay = { calls: [{ id: "c", name: "pay", input: "{}" }] };
    await using server = await openModelServer(answers({ text: ["no"] }, pay, { text: [VALID] }));
    const tools = { pay: tool({ description: "Pays.", approve: true, execute: () => "paid" }) };
    await using harness = await serveModel({ model: server.model, output: CITY, tools });
    const asked = await harness.send("?");
    await using next = await harness.crash();
    const done = await next.send({ taskId: asked.id, parts: [{ text: "yes" }] });
    expect(partsOf(done, "result")).toEqual([{ data: { city: "Ulm", people: 130_000 } }]);
    expect(server.calls).toHaveLength(3);
  });

  test("works with a library that needs a converter", async () => {
    await using server = await openModelServer(answers({ text: ["[1,2]"] }));
    await using harness = await serveModel({
      model: server.model,
      output: v.array(v.number()),
      outputJsonSchema: { type: "array", items: { type: "number" } },
    });
    expect(partsOf(await harness.send("?"), "result")).toEqual([{ data: [1, 2] }]);
    expect(String(server.calls[0]?.[0]?.content)).toContain('"items":{"type":"number"}');
  });
});
