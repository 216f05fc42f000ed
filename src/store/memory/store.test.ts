import { afterEach, describe, expect, test, vi } from "vitest";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";
import {
  advanceOf,
  createOf,
  deleteWebhookOf,
  endOf,
  SCOPE,
  setWebhookOf,
  taskId,
  webhookOf,
} from "../../testing/store-operations.ts";
import { createMemoryStore } from "./store.ts";

afterEach(() => vi.restoreAllMocks());

describe("the memory store", () => {
  for (const { name, run } of storeContract) test(name, () => run(async (setup) => createMemoryStore(setup)));

  test("lists and counts like a filter and sort over all tasks", () =>
    checkListAgainstModel(createMemoryStore({ retention: {} }), 200));

  test("keeps 1000 tasks by default and deletes the 100 oldest finished ones for the next", async () => {
    const store = createMemoryStore();
    await store.commit(Array.from({ length: 1001 }, (_, n) => createOf(taskId(n), {}, { end: endOf(2) })));
    expect(await store.positions([taskId(0), taskId(99)])).toEqual([]);
    expect(await store.positions([taskId(100), taskId(1000)])).toHaveLength(2);
  });

  test("deletes webhooks and message ids with their task", async () => {
    const store = createMemoryStore({ retention: { maxTasks: 10, pruneCount: 5 } });
    for (let n = 0; n < 100; n++) {
      const task = taskId(n);
      await store.commit([
        createOf(task, { webhook: webhookOf("a"), messageId: "m" }, { end: endOf(2) }),
        setWebhookOf(task, "b"),
        setWebhookOf(task, "c"),
      ]);
      const [a, b] = await store.webhooks(task);
      await store.commit([
        advanceOf(task, "a", { epoch: a?.epoch ?? 0, state: "suspended" }),
        advanceOf(task, "b", { epoch: b?.epoch ?? 0, cursor: 2, state: "idle" }),
        deleteWebhookOf(task, "c"),
      ]);
    }
    const failed = await store.failedWebhooks({ limit: 1000 });
    expect(failed.length).toBeLessThanOrEqual(10);
    expect(await store.positions(failed.map(({ task }) => task))).toHaveLength(failed.length);
    expect(await store.claimWebhooks({ node: "n", agents: [SCOPE.agent], limit: 1000 })).toEqual([]);
    expect((await store.findByMessage(SCOPE, "m"))?.task).toBe(taskId(99));
  });

  test("ignores changes of the system clock", async () => {
    const store = createMemoryStore();
    const system = Date.now.bind(Date);
    const { now } = await store.heartbeat("a", 1000);
    for (const jump of [7_200_000, -7_200_000]) {
      vi.spyOn(Date, "now").mockImplementation(() => system() + jump);
      expect(Math.abs((await store.heartbeat("a", 1000)).now - now)).toBeLessThan(3_600_000);
    }
  });

  test("applies a commit before the call returns", async () => {
    const store = createMemoryStore();
    const committing = store.commit([createOf(taskId(1))]);
    expect(await store.positions([taskId(1)])).toHaveLength(1);
    await committing;
  });
});
