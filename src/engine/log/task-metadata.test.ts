import { describe, expect, test } from "vitest";
import { openHarness, scripted } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";
import { mergeMetadata, metadataChange } from "./task-metadata.ts";

describe("metadata of a task", () => {
  test("is merged key by key; null and undefined remove a key", () => {
    const first = mergeMetadata(undefined, metadataChange({ a: 1, b: { c: [2] }, d: undefined }));
    expect(first).toBe('{"a":1,"b":{"c":[2]}}');
    expect(mergeMetadata(first, metadataChange({ a: undefined, e: "new" }))).toBe('{"b":{"c":[2]},"e":"new"}');
    expect(mergeMetadata(first, metadataChange({ a: null, b: null }))).toBeUndefined();
    expect(mergeMetadata('{"__proto__":1}', metadataChange({ x: 1 }))).toBe('{"__proto__":1,"x":1}');
  });

  test("throws for values that are not JSON, and above 16 KB", async () => {
    const problems: unknown[] = [];
    const bad: readonly unknown[] = [{ at: new Date(0) }, { n: Number.NaN }, ["list"], null, { x: "x".repeat(16_400) }];
    const agents = scripted(async (task) => {
      await task.setMetadata({ kept: true });
      for (const metadata of bad) {
        await task.setMetadata(metadata as never).catch((error: unknown) => problems.push(error));
      }
    });
    await using harness = await openHarness({ agents });
    const { metadata } = await harness.send("go");
    expect(metadata).toEqual({ kept: true });
    expect(problems.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => expect.any(TypeError)));
    expect(problems[4]).toMatchObject({ code: "metadata-too-large" });
  });

  test("is visible before the task ends, once it is committed", async () => {
    const agents = scripted(async (task) => {
      await task.setMetadata({ step: 1 });
      await task.ask("Go on?");
      await task.setMetadata({ done: true });
    });
    await using harness = await openHarness({ agents, parkAfter: 1000 });
    const asked = await harness.send("go");
    expect(asked.metadata).toEqual({ step: 1 });
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    const done = await harness.send({ taskId: asked.id, parts: [{ text: "yes" }] });
    expect(done.metadata).toEqual({ step: 1, done: true });
  });

  test("is in the last event of a task that is not completed", async () => {
    const agents = scripted(async (task) => {
      await task.setMetadata({ tokens: 3 });
      task.reject("No.");
    });
    await using harness = await openHarness({ agents });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "rejected");
    expect((await harness.log(taskId)).at(-1)?.event.metadata).toEqual({ tokens: 3 });
  });

  /** Runs a task whose first attempt hangs and crashes; returns the metadata after the second attempt. */
  async function afterCrash(run: (task: TaskContext) => Promise<void>): Promise<unknown> {
    const agents = scripted(async (task) => {
      await run(task);
      await task.flush();
      if (task.attempt === 1) await new Promise<never>(() => {});
    });
    await using first = await openHarness({ agents });
    const { taskId } = await first.start("go");
    await first.until(async () => (await first.get(taskId)).metadata?.["last"] !== undefined);
    const second = await first.crash();
    await second.untilState(taskId, "completed");
    return (await second.get(taskId)).metadata;
  }

  test("a replay does not restore an older value, neither by calls before a stored step nor by repeated calls", async () => {
    const metadata = await afterCrash(async (task) => {
      await task.setMetadata({ phase: "begun", count: 1 });
      await task.step("work", async () => {
        await task.setMetadata({ phase: "worked" });
        return 1;
      });
      await task.setMetadata({ last: true });
    });
    expect(metadata).toEqual({ phase: "worked", count: 1, last: true });
  });

  test("a replay sets it from the first call that differs", async () => {
    const metadata = await afterCrash(async (task) => {
      await task.setMetadata({ a: task.attempt });
      await task.setMetadata({ a: 9 });
      await task.setMetadata({ last: true });
    });
    expect(metadata).toEqual({ a: 9, last: true });
  });
});

describe("metadata of an artifact that a later write sets", () => {
  test("is kept by a replay and written once", async () => {
    const agents = scripted(async (task) => {
      await task.artifact("notes").write("one ");
      await task.artifact("notes", { metadata: { page: 2 } }).write("two ");
      await task.flush();
      if (task.attempt === 1) await new Promise<never>(() => {});
      await task.artifact("notes", { metadata: { page: 2 } }).write("three");
      await task.artifact("notes", { metadata: { page: 3 }, description: "Notes" }).end();
    });
    await using first = await openHarness({ agents });
    const { taskId } = await first.start("go");
    await first.until(async () => JSON.stringify(await first.get(taskId)).includes("two"));
    const second = await first.crash();
    await second.untilState(taskId, "completed");
    const { artifacts = [] } = await second.get(taskId);
    expect(artifacts).toMatchObject([{ name: "notes", description: "Notes", metadata: { page: 3 } }]);
    const given = (await second.log(taskId)).flatMap(({ event }) =>
      event.kind === "artifact" ? [event.artifact.metadata] : [],
    );
    expect(given).toEqual([undefined, { page: 2 }, undefined, { page: 3 }]);
  });
});
