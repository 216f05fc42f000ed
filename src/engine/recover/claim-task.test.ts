import { afterEach, describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { type Store, StoreError } from "../../store/contract.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";
import { type RunnerRecord, readRunner } from "../record/runner-record.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

/** A task whose process died during its first attempt; later attempts complete immediately. */
async function leftBehind(): Promise<{ readonly taskId: TaskId; readonly starts: () => number }> {
  let starts = 0;
  harness = await openHarness({
    agents: scripted(async (task) => {
      starts += 1;
      if (task.attempt === 1) await new Promise<never>(() => {});
      return "done";
    }),
  });
  const { taskId } = await harness.start("go");
  await harness.until(() => starts === 1);
  return { taskId, starts: () => starts };
}

async function runnerOf(id: TaskId): Promise<RunnerRecord> {
  const record = await harness.shared.get(id, { artifacts: false });
  return readRunner(record?.head.runner ?? "{}");
}

describe("claiming a task", () => {
  test("skips a task that a living node holds", async () => {
    const { taskId, starts } = await leftBehind();
    const other = await harness.join();
    await harness.advance(5000);
    expect(starts()).toBe(1);
    expect((await other.shared.get(taskId, { artifacts: false }))?.epoch).toBe(1);
  });

  test.each(["get", "inbox", "steps", "log"] as const)(
    "is retried if a read fails (%s), and the failure does not count as an attempt",
    async (method) => {
      const { taskId, starts } = await leftBehind();
      await harness.kill();
      let failures = method === "get" ? 2 : 1;
      const { shared } = harness;
      const works = (shared[method] as (...given: unknown[]) => Promise<never>).bind(shared);
      Object.assign(shared, {
        [method]: (...given: unknown[]) =>
          failures-- > 0 ? Promise.reject(new StoreError("busy", "not now")) : works(...given),
      } satisfies Partial<Record<keyof Store, unknown>>);
      // Without retries of the read.
      harness = await harness.join({ storeRetry: 0 });
      expect(starts()).toBe(1);
      await harness.advance(3000);
      await harness.untilState(taskId, "completed");
      expect(await runnerOf(taskId)).toMatchObject({ attempt: 2, tries: 2 });
      expect(
        harness.logs.some(({ level, message }) => level === "warn" && /trying again|next poll/.test(message)),
      ).toBe(true);
    },
  );

  test("is retried if storing the attempt fails", async () => {
    const { taskId, starts } = await leftBehind();
    await harness.kill();
    const { shared } = harness;
    const commit = shared.commit.bind(shared);
    let failed = false;
    shared.commit = (operations) => {
      if (failed || !operations.some(({ kind }) => kind === "write")) return commit(operations);
      failed = true;
      return Promise.reject(new StoreError("busy", "not now"));
    };
    harness = await harness.join({ storeRetry: 0 });
    expect(starts()).toBe(1);
    await harness.advance(3000);
    await harness.untilState(taskId, "completed");
    expect(await runnerOf(taskId)).toMatchObject({ attempt: 2, tries: 2 });
  });

  test("fails the task if the message that started its turn is gone", async () => {
    const { taskId, starts } = await leftBehind();
    await harness.kill();
    const { shared } = harness;
    const get = shared.get.bind(shared);
    shared.get = async (id, options) => {
      const record = await get(id, options);
      return record && { ...record, history: [] };
    };
    harness = await harness.join();
    await harness.untilState(taskId, "failed");
    expect(starts()).toBe(1);
  });

  test("shows subscribers the stored events before new ones", async () => {
    const { taskId } = await leftBehind();
    const other = await harness.join();
    const following = other.collect(taskId);
    await turns(5);
    await harness.kill();
    harness = other;
    await harness.advance(1500);
    expect((await following).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test("reads the whole log from the store, not only the events this node received", async () => {
    let free: () => void = () => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    let stuck = false;
    const author = scripted(
      async (task) => {
        if (task.text === "first") return freed;
        await task.artifact("a").write("1");
        if (task.attempt > 1) return;
        await task.flush();
        stuck = true;
        await new Promise<never>(() => {});
      },
      { concurrency: 1 },
    );
    harness = await openHarness({ agents: author });
    const deaf = await harness.join();
    await harness.start("first");
    const { taskId } = await harness.start("second");
    // It has written nothing yet, and from here on the other node receives no events.
    const reader = await deaf.subscribe(taskId);
    expect(reader.opening.seq).toBe(0);
    await harness.bus.close();
    free();
    await harness.until(() => stuck);
    await harness.kill();
    harness = deaf;
    await harness.advance(1000);
    await harness.untilState(taskId, "completed");
    expect((await harness.get(taskId)).artifacts).toMatchObject([{ artifactId: "a", parts: [{ text: "1" }] }]);
    reader.close();
  });

  test("reads the log of the task once", async () => {
    let began = false;
    harness = await openHarness({
      agents: scripted(async (task) => {
        await task.artifact("a").write("1");
        await task.flush();
        if (task.attempt > 1) began = true;
        await new Promise<never>(() => {});
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.until(async () => ((await harness.shared.positions([taskId]))[0]?.seq ?? 0) === 2);
    harness = await harness.crash();
    await harness.until(() => began);
    expect(harness.store.logReads).toBe(1);
  });

  test("keeps the deadline of the task, plus the time it waited", async () => {
    const names = async (task: TaskContext): Promise<string> => `${await task.ask("Name?")} ${await task.ask("And?")}`;
    harness = await openHarness({ agents: scripted(names, { timeout: 60_000 }) });
    const began = harness.clock.now();
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "input-required");
    await harness.advance(40_000);
    expect((await runnerOf(taskId)).pausedAt).toBe(began);
    await harness.send({ taskId, parts: [{ text: "Ada" }] });
    expect(await runnerOf(taskId)).toMatchObject({ attempt: 2, tries: 1, deadline: began + 40_000 + 60_000 });
  });

  test("by two nodes at the same time gives it to one", async () => {
    const { taskId, starts } = await leftBehind();
    await harness.kill();
    const [one, two] = await Promise.all([harness.join(), harness.join()]);
    harness = one;
    await one.untilState(taskId, "completed");
    await two.advance(3000);
    expect(starts()).toBe(2);
    expect((await harness.shared.get(taskId, { artifacts: false }))?.epoch).toBe(2);
  });
});
