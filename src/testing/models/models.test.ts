import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, streamText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelAgent } from "../../adapters/models/model-agent.ts";
import type { Model } from "../../adapters/models/model-contract.ts";
import { scriptedModel } from "../../adapters/models/scripted-model.ts";
import { tool } from "../../adapters/models/tool.ts";
import { testAgent } from "../agent/test-agent.ts";
import { testCrashes } from "../agent/test-crashes.ts";
import { modelReplies } from "./model-replies.ts";
import { recordedModel } from "./recorded-model.ts";

function clerk(model: Model, paid: number[] = []) {
  return modelAgent({
    name: "Clerk",
    description: "Pays.",
    version: "1",
    model,
    tools: {
      pay: tool({
        description: "Pays.",
        input: z.object({ amount: z.number() }),
        repeatable: true,
        execute: ({ amount }) => {
          paid.push(amount);
          return { paid: amount };
        },
      }),
    },
  });
}

const REPLIES = [{ text: "I pay. ", calls: [{ name: "pay", input: { amount: 5 } }] }, "Done."];

describe("modelReplies", () => {
  it("gives the replies in order, and keeps the calls", async () => {
    const paid: number[] = [];
    const model = modelReplies(REPLIES);
    await using test = await testAgent(clerk(model, paid));
    expect((await test.send("pay 5")).text).toContain("Done.");
    expect(paid).toEqual([5]);
    expect(model.calls.map(({ prompt }) => prompt.at(-1)?.role)).toEqual(["user", "tool"]);
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["pay"]);
  });

  it("gives a repeated call the same reply, after a crash at any commit", async () => {
    const { crashes } = await testCrashes(
      () => clerk(modelReplies(REPLIES)),
      (test) => test.send("pay 5"),
    );
    expect(crashes).toBeGreaterThan(4);
  });

  it("fails the task if there are too few replies", async () => {
    await using test = await testAgent(clerk(modelReplies(REPLIES.slice(0, 1))));
    expect((await test.send("pay 5")).state).toBe("failed");
    expect(test.logs.map(({ details }) => String(details?.["error"]))).toContain(
      "Error: The model was called for reply 2, but the test has only 1.",
    );
  });
});

describe("recordedModel", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "palaver-recorded-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("records the calls of a model once, and replays them without it", async () => {
    const file = join(folder, "calls", "clerk.json");
    let calls = 0;
    const real = scriptedModel((messages) => {
      calls++;
      return messages.at(-1)?.role === "tool" ? { text: "Done." } : { calls: [{ name: "pay", input: { amount: 5 } }] };
    });
    const run = async (model: Model): Promise<string> => {
      await using test = await testAgent(clerk(model));
      return (await test.send("pay 5")).text;
    };
    expect(await run(recordedModel(() => real, { file, mode: "record" }))).toBe("Done.");
    const written = readFileSync(file, "utf8");
    expect(calls).toBe(2);
    const never = (): Model => {
      throw new Error("The model must not be made.");
    };
    expect(await run(recordedModel(never, { file }))).toBe("Done.");
    expect(await run(recordedModel(() => real, { file, mode: "record" }))).toBe("Done.");
    expect(calls).toBe(2);
    expect(readFileSync(file, "utf8")).toBe(written);
  });

  it("names the file and the command for a call that is not recorded", async () => {
    const model = recordedModel(() => modelReplies([]), { file: join(folder, "none.json") });
    await expect(model.doStream({ prompt: [] })).rejects.toThrow(
      /none\.json has no answer to this model call \(it has 0 others\)\. Record it: RECORD_MODEL_CALLS=1 npm test/,
    );
  });

  it("refuses a file that is not a recording", () => {
    const file = join(folder, "a.json");
    for (const content of ["{", "{}", "[]"]) {
      writeFileSync(file, content);
      expect(() => recordedModel(() => modelReplies([]), { file })).toThrow("Delete it and record again");
    }
  });

  it("works in the AI SDK: both ways to call, files and times included", async () => {
    const file = join(folder, "sdk.json");
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const finishReason = { unified: "stop" as const, raw: "stop" };
    const real = new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [
          { type: "text", text: "generated" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
        ],
        finishReason,
        usage,
        response: { timestamp: new Date(0) },
        warnings: [],
      }),
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            controller.enqueue({ type: "text-start", id: "1" });
            controller.enqueue({ type: "text-delta", id: "1", delta: "streamed" });
            controller.enqueue({ type: "text-end", id: "1" });
            controller.enqueue({ type: "finish", finishReason, usage });
            controller.close();
          },
        }),
      }),
    });
    for (const mode of ["record", "replay"] as const) {
      const model = recordedModel(() => real, { file, mode });
      const generated = await generateText({ model, prompt: "hello" });
      expect(generated.text).toBe("generated");
      expect(generated.files[0]?.uint8Array).toEqual(new Uint8Array([1, 2, 3]));
      expect(generated.finalStep.response.timestamp).toEqual(new Date(0));
      const { textStream } = streamText({ model, prompt: "hello" });
      expect((await Array.fromAsync(textStream)).join("")).toBe("streamed");
    }
    expect(real.doGenerateCalls).toHaveLength(1);
    expect(real.doStreamCalls).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toContain('"$bytes": "AQID"');
  });
});
