import { describe, expect, test } from "vitest";
import { storeContract } from "../../testing/store-contract.ts";
import { checkListAgainstModel } from "../../testing/store-model.ts";
import { createOf, endOf, taskId } from "../../testing/store-operations.ts";
import { createMemoryStore } from "./store.ts";

describe("the memory store", () => {
  for (const { name, run } of storeContract) test(name, () => run(async (setup) => createMemoryStore(setup)));

  test("lists and counts as a plain filter and sort would", () =>
    checkListAgainstModel(createMemoryStore({ retention: {} }), 200));

  test("keeps 1000 tasks by default and drops the 100 oldest finished ones for more", async () => {
    const store = createMemoryStore();
    await store.commit(Array.from({ length: 1001 }, (_, n) => createOf(taskId(n), {}, { end: endOf(2) })));
    expect(await store.positions([taskId(0), taskId(99)])).toEqual([]);
    expect(await store.positions([taskId(100), taskId(1000)])).toHaveLength(2);
  });

  test("has committed when the call returns, a microtask before it says so", async () => {
    const store = createMemoryStore();
    const committing = store.commit([createOf(taskId(1))]);
    expect(await store.positions([taskId(1)])).toHaveLength(1);
    await committing;
  });
});
