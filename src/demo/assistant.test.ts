import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openModelServer } from "../adapters/models/test/model-server.ts";
import type { ContextId } from "../protocol/ids.ts";
import { textOf } from "../protocol/part.ts";
import { type EngineHarness, openHarness } from "../testing/engine-harness.ts";
import { calculate } from "./arithmetic.ts";
import { createAssistant } from "./assistant.ts";

describe("the assistant without a real model", () => {
  let harness: EngineHarness;
  beforeEach(async () => {
    harness = await openHarness({ agents: createAssistant({}) });
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  async function say(text: string, context = "c") {
    await harness.advance(10);
    const task = await harness.send({ contextId: context as ContextId, parts: [{ text }] });
    return { task, text: textOf(task.artifacts?.[0]?.parts ?? []) };
  }

  it("uses its tools", async () => {
    expect((await say("What is 6 * 7?")).text).toBe("The result is 42.");
    expect((await say("What is (1 + 2) * -3 / 2")).text).toBe("The result is -4.5.");
    expect((await say("What is 1 + ?")).text).toContain("That did not work");
    expect((await say("What time is it?")).text).toMatch(/^It is \d{4}-/);
    expect((await say("Hi")).text).toContain("What is 6 * 7?");
  });

  it("remembers notes and the conversation, for each context apart", async () => {
    expect((await say("Remember that I like tea")).text).toBe("I write that down.\n\nYou have 1 note now.");
    const { text } = await say("What do you know?");
    expect(text).toContain("you said: “Remember that I like tea”");
    expect(text).toContain("Your notes: I like tea.");
    expect((await say("What do you know?", "other")).text).toContain("You have no notes.");
  });

  it("asks before it deletes notes", async () => {
    await say("Remember: buy milk");
    const { task } = await say("Forget everything");
    expect(task.status.state).toBe("input-required");
    const done = await harness.send({ taskId: task.id, parts: [{ text: "yes" }] });
    expect(textOf(done.artifacts?.[0]?.parts ?? [])).toBe("Your notes are deleted.");
    expect((await say("What do you know?")).text).toContain("You have no notes.");
  });
});

describe("the assistant with OPENAI_BASE_URL", () => {
  it("uses the model OPENAI_MODEL at that address", async () => {
    await using server = await openModelServer(() => ({ text: ["Hello from the model."] }));
    const agents = createAssistant({ OPENAI_BASE_URL: server.url, OPENAI_MODEL: "small" });
    await using harness = await openHarness({ agents });
    const task = await harness.send("Hi");
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe("Hello from the model.");
    expect(server.requests[0]?.model).toBe("small");
  });

  it("starts with an invalid address, and says why the model is not used", async () => {
    await using harness = await openHarness({ agents: createAssistant({ OPENAI_BASE_URL: "nonsense" }) });
    const task = await harness.send("Hi");
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toContain("is not a URL");
  });
});

it.each(["", "1 +", "(1", "2 x 3", "1 / 0"])("the calculator refuses %j", (expression) => {
  expect(() => calculate(expression)).toThrow();
});
