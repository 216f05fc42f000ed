import { describe, expect, it } from "vitest";
import { EngineHarness } from "../../testing/engine-harness.ts";
import { agent } from "../agent/agent.ts";

const asker = agent({
  name: "Asker",
  description: "Asks once.",
  version: "1",
  async *run(task) {
    await task.status("Thinking");
    yield "a";
    yield await task.ask("And?");
  },
});

describe("the state history of a task", () => {
  it("is in the metadata of a snapshot that requests it, in order and with times", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const asked = await harness.send("x");
    await harness.advance(1000);
    await harness.send({ taskId: asked.id, parts: [{ text: "y" }] });
    const options = { artifacts: false, history: 0 };
    const task = await harness.engine.snapshot(harness.scope(), asked.id, { ...options, stateHistory: true });
    const { stateTransitions } = JSON.parse(task?.metadata ?? "{}") as {
      stateTransitions: readonly { state: string; timestamp: string }[];
    };
    expect(stateTransitions.map(({ state }) => state)).toEqual([
      "submitted",
      "working",
      "input-required",
      "working",
      "completed",
    ]);
    const times = stateTransitions.map(({ timestamp }) => Date.parse(timestamp));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1000);
    expect((await harness.engine.snapshot(harness.scope(), asked.id, options))?.metadata).toBeUndefined();
  });

  it("is cached: a second request reads only the events since the first", async () => {
    await using harness = await EngineHarness.open({ agents: asker });
    const asked = await harness.send("x");
    const options = { artifacts: false, history: 0, stateHistory: true };
    const readMetadata = async (): Promise<string | undefined> =>
      (await harness.engine.snapshot(harness.scope(), asked.id, options))?.metadata;
    const first = await readMetadata();
    const reads = harness.store.logReads;
    expect(await readMetadata()).toBe(first);
    expect(harness.store.logReads).toBe(reads);
    await harness.send({ taskId: asked.id, parts: [{ text: "y" }] });
    expect(JSON.parse((await readMetadata()) ?? "").stateTransitions).toHaveLength(5);
    expect(harness.store.logReads).toBe(reads + 1);
  });
});
