import { describe, expect, test } from "vitest";
import type { ContextId } from "../../protocol/ids.ts";
import type { ModelMessage } from "./model-contract.ts";
import { openModelServer } from "./test/model-server.ts";
import { mockModel, partsOf, serveModel, textPart } from "./test/serve-model.ts";
import { tool } from "./tool.ts";

const PIXEL = "iVBORw0KGgo=";
const OTHER = "R0lGODdh";
const image = { type: "file", mediaType: "image/png", data: { type: "data" as const, data: PIXEL } };

describe("files", () => {
  test("of the message reach the model: images, texts and URLs, also without a media type", async () => {
    await using server = await openModelServer(() => ({ text: ["Seen."] }));
    await using harness = await serveModel({ model: server.model });
    await harness.send({
      parts: [
        { text: "What is this?" },
        { raw: PIXEL, mediaType: "image/png" },
        { url: "https://example.org/cat.jpg" },
        { raw: Buffer.from("a,b").toString("base64"), filename: "table.csv" },
      ],
    });
    expect(server.calls[0]?.[0]?.content).toEqual([
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: "image_url", image_url: { url: "https://example.org/cat.jpg" } },
      { type: "text", text: "a,b" },
    ]);
  });

  test("that the model cannot read fail the task with the reason, without retries", async () => {
    await using server = await openModelServer(() => ({ text: ["Seen."] }));
    await using harness = await serveModel({ model: server.model });
    const { status } = await harness.send({ parts: [{ raw: PIXEL, mediaType: "application/zip" }] });
    expect(status.message?.parts[0]?.text).toBe(
      "The model cannot read this message: file part media type application/zip is not supported.",
    );
    expect(server.calls).toHaveLength(0);
  });

  test("that the model returns are artifacts, and part of the conversation", async () => {
    const prompts: ModelMessage[][] = [];
    const model = mockModel(({ prompt }) => {
      prompts.push(prompt);
      return [textPart("Here:"), image, { ...image, data: { type: "url", url: new URL("https://example.org/b.png") } }];
    });
    await using harness = await serveModel({ model, history: { files: "inline" } });
    const say = (text: string) => harness.send({ contextId: "c" as ContextId, parts: [{ text }] });
    const task = await say("Draw");
    expect(partsOf(task, "result")).toEqual([{ text: "Here:" }]);
    expect(partsOf(task, "file-1.1")).toEqual([{ raw: PIXEL, mediaType: "image/png" }]);
    expect(partsOf(task, "file-1.2")).toEqual([{ url: "https://example.org/b.png", mediaType: "image/png" }]);
    await harness.advance(10);
    await say("Again");
    expect(prompts[1]?.[1]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "Here:" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: PIXEL } },
        { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/b.png") } },
      ],
    });
  });

  test("of a call that failed are replaced by those of the next try", async () => {
    const model = mockModel((_call, count) =>
      count === 1
        ? [image, { type: "error", error: new Error("cut") }]
        : [{ ...image, data: { type: "data", data: Uint8Array.from(Buffer.from(OTHER, "base64")) } }],
    );
    await using harness = await serveModel({ model });
    const task = await harness.send("Draw");
    expect(partsOf(task, "file-1.1")).toEqual([{ raw: OTHER, mediaType: "image/png" }]);
  });

  test("that are too large fail the task with a name", async () => {
    const data = { type: "data" as const, data: "A".repeat(4_000_000) };
    await using harness = await serveModel({ model: mockModel(() => [{ ...image, data }]) });
    const { status } = await harness.send("Draw");
    expect(status.message?.parts[0]?.text).toContain("The model's answer has a file of more than");
  });
});

describe("reasoning", () => {
  const answer = (call: number) =>
    call === 1
      ? { reasoning: ["Hm, ", "a tool."], calls: [{ id: "c", name: "look", input: "{}" }] }
      : { reasoning: ["Now I know."], text: ["Ulm."] };
  const look = tool({ description: "Looks.", execute: () => "Ulm" });

  test("is hidden by default, and goes back to the model with the results of its tools", async () => {
    await using server = await openModelServer((_messages, call) => answer(call));
    await using harness = await serveModel({ model: server.model, tools: { look } });
    const task = await harness.send("?");
    expect(JSON.stringify([task, await harness.story(task.id)])).not.toContain("Hm, ");
    expect(server.calls[1]?.at(-2)).toMatchObject({ role: "assistant", reasoning_content: "Hm, a tool." });
  });

  test("streams into an artifact of its own if it is shown, and is no part of the conversation", async () => {
    await using server = await openModelServer((_messages, call) => answer(call));
    await using harness = await serveModel({ model: server.model, tools: { look }, showReasoning: true });
    const say = (text: string) => harness.send({ contextId: "c" as ContextId, parts: [{ text }] });
    const task = await say("?");
    expect(partsOf(task, "reasoning")).toEqual([{ text: "Hm, a tool.\n\nNow I know." }]);
    expect(partsOf(task, "result")).toEqual([{ text: "Ulm." }]);
    expect(await harness.story(task.id)).toContain("reasoning+=a tool.");
    await harness.advance(10);
    await say("And?");
    expect(server.calls[2]?.map(({ content }) => content)).toEqual(["?", "Ulm.", "And?"]);
  });

  test("keeps the signature of its provider", async () => {
    const prompts: ModelMessage[][] = [];
    const signature = { anthropic: { signature: "s1" } };
    const model = mockModel(({ prompt }, count) => {
      prompts.push(prompt);
      if (count > 1) return [textPart("Done.")];
      return [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "reasoning-end", id: "r", providerMetadata: signature },
        { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}", providerMetadata: signature },
      ];
    });
    await using harness = await serveModel({ model, tools: { look } });
    await harness.send("?");
    expect(prompts[1]?.[1]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: signature },
        { type: "tool-call", toolCallId: "1.1-c", toolName: "look", input: {}, providerOptions: signature },
      ],
    });
  });
});

describe("cost", () => {
  test.each([
    ["prices of tokens", { input: 2, cachedInput: 0.5, output: 10 }, (600 * 2 + 400 * 0.5 + 100 * 10) / 1_000_000],
    ["a function", (usage: Readonly<Record<string, number>>) => (usage["outputTokens"] ?? 0) / 4, 25],
  ] as const)("is added to the usage by %s", async (_, price, cost) => {
    await using harness = await serveModel({ model: mockModel(() => [textPart("Hi.")]), price });
    expect((await harness.send("?")).metadata).toMatchObject({ usage: { modelCalls: 1, cost } });
  });
});
