import { describe, expect, test } from "vitest";
import { sqliteTrial } from "../testing/sqlite-trial.ts";
import { claimQuery, createOf, endOf, headOf, NODE, taskId, writeOf } from "../testing/store-operations.ts";
import type { Store } from "./contract.ts";
import { createMemoryStore } from "./memory/store.ts";

const STORES = ["memory", "SQLite"];

async function figures(store: Store) {
  const statistics = await store.statistics?.();
  if (statistics === undefined) throw new Error("The store has no statistics.");
  const { tasks, parked, nodes } = statistics;
  const states = Object.fromEntries(Object.entries(tasks).filter(([, n]) => n > 0));
  return { states, parked, held: nodes.map(({ id, tasks: n }) => `${id}:${n}`) };
}

describe.each(STORES)("The statistics of a store (%s)", (name) => {
  test("count tasks by state before and after changes, and the tasks that nodes hold", async () => {
    await using trial = await sqliteTrial();
    const store = name === "memory" ? createMemoryStore({ retention: {} }) : await trial.open();
    await store.heartbeat(NODE, 10_000);
    expect(await figures(store)).toEqual({ states: {}, parked: 0, held: [`${NODE}:0`] });
    await store.commit([createOf(taskId(1)), createOf(taskId(2)), createOf(taskId(3))]);
    const { states: created } = await figures(store);
    expect(Object.values(created)).toEqual([3]);
    await store.commit([
      writeOf(taskId(1), { end: endOf(2) }),
      writeOf(taskId(2), { head: headOf("input-required", { active: false }), release: true }),
    ]);
    expect(await figures(store)).toMatchObject({
      states: { completed: 1, "input-required": 1 },
      parked: 1,
      held: [`${NODE}:1`],
    });
    await store.claimDue(claimQuery());
    const { bytes } = (await store.statistics?.()) ?? {};
    if (name === "SQLite") expect(bytes).toBeGreaterThan(4096);
    else expect(bytes).toBeUndefined();
  });
});
