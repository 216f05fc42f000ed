import { describe, expect, it, test } from "vitest";
import { type Outcome, type Store, StoreError, type StoreOperation } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { turns } from "./engine-harness.ts";
import { PassingStore } from "./mutants/mutant-store.ts";
import { storeContract } from "./store-contract.ts";
import { createOf, NODE, postOf, SCOPE, statusEntry, taskId, writeOf } from "./store-operations.ts";
import { createUnreliableStore, type UnreliableStoreOptions } from "./unreliable-store.ts";

/** The failed reads among 200, the order in which the others were answered, and the delays. */
async function observe(options: UnreliableStoreOptions): Promise<{ answers: string[]; waited: number[] }> {
  const waited: number[] = [];
  const wait = (milliseconds: number): Promise<void> => {
    waited.push(milliseconds);
    return turns(milliseconds);
  };
  const store = createUnreliableStore(createMemoryStore(), { wait, ...options });
  const answers: string[] = [];
  const calls = Array.from({ length: 200 }, (_, index) =>
    store.positions([]).then(
      () => answers.push(`${index}`),
      () => answers.push(`${index} failed`),
    ),
  );
  await Promise.all(calls);
  return { answers, waited };
}

describe("an unreliable store that loses nothing fulfils the store contract", () => {
  test.each(storeContract)("$name", async ({ run }) => {
    let seed = 0;
    const faults = { delay: { min: 0, max: 6 }, reorders: true, wait: turns };
    await run(async (setup) => createUnreliableStore(createMemoryStore(setup), { seed: ++seed, ...faults }));
  });
});

/** A store that notes what it receives. */
class NotingStore extends PassingStore {
  readonly commits: (readonly StoreOperation[])[] = [];

  override commit(...call: Parameters<Store["commit"]>): Promise<readonly Outcome[]> {
    this.commits.push(call[0]);
    return super.commit(...call);
  }
}

/** Calls until the answer is not lost; returns it. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "lost") throw error;
    }
  }
}

describe("an unreliable store", () => {
  it("repeats its delays and failures for the same seed, and differs for another seed", async () => {
    const faults = { delay: { min: 0, max: 5 }, failures: 0.3 };
    const first = await observe({ seed: 7, ...faults });
    expect(await observe({ seed: 7, ...faults })).toEqual(first);
    expect(await observe({ seed: 8, ...faults })).not.toEqual(first);
  });

  it("draws delays within the range, and lets calls overtake each other", async () => {
    const { answers, waited } = await observe({ delay: { min: 1, max: 4 } });
    expect(Math.max(...waited)).toBeLessThanOrEqual(4);
    const total = waited.reduce((sum, each) => sum + each, 0);
    expect(total).toBeGreaterThan(200);
    expect(total).toBeLessThan(800);
    expect(answers).toHaveLength(200);
    expect(answers).not.toEqual(answers.toSorted((a, b) => Number(a) - Number(b)));
  });

  it("adds neither delays nor failures by default", async () => {
    const { answers, waited } = await observe({});
    expect(waited).toEqual([]);
    expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => `${index}`));
  });

  it("waits in real time by default", async () => {
    const store = createUnreliableStore(createMemoryStore(), { delay: { min: 1, max: 1 } });
    let isAnswered = false;
    const answer = store.health().then(() => {
      isAnswered = true;
    });
    await Promise.resolve();
    expect(isAnswered).toBe(false);
    await answer;
  });

  it("answers a delayed read with the data from before the delay", async () => {
    const waits: (() => void)[] = [];
    const wait = (): Promise<void> => new Promise((resolve) => void waits.push(resolve));
    const inner = createMemoryStore();
    await inner.commit([createOf(taskId(1), {}, { entries: [statusEntry(1)] })]);
    // With this seed the whole delay of the first call follows the read of the store.
    const seed = await seedOf(async (options) => {
      let hasAsked = false;
      const positions = async (): Promise<[]> => {
        hasAsked = true;
        return [];
      };
      const asked: Store = Object.create(inner, { positions: { value: positions } });
      void createUnreliableStore(asked, { ...options, wait: () => new Promise(() => {}) }).positions([]);
      await turns(1);
      return hasAsked;
    });
    const store = createUnreliableStore(inner, { seed, delay: { min: 1, max: 1 }, wait });
    const reading = store.positions([taskId(1)]);
    await inner.commit([writeOf(taskId(1), { entries: [statusEntry(2)] })]);
    for (const resume of waits) resume();
    expect(await reading).toMatchObject([{ seq: 1 }]);
  });

  it("fails with the given probability, before the store receives the call, with errors of the store contract", async () => {
    const inner = createMemoryStore({ retention: {} });
    const store = createUnreliableStore(inner, { failures: { commit: 0.5 } });
    const codes = new Map<string, number>();
    let applied = 0;
    for (let index = 1; index <= 200; index += 1) {
      try {
        await store.commit([createOf(taskId(index))]);
        applied += 1;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
      }
    }
    expect(new Set(codes.keys())).toEqual(new Set(["busy", "full"]));
    expect(applied + store.failed).toBe(200);
    expect(applied).toBeGreaterThan(60);
    expect(applied).toBeLessThan(140);
    expect((await inner.list({ scope: SCOPE, limit: 1, artifacts: false })).total).toBe(applied);
  });

  it("loses answers: of calls that were applied, that are applied later, and that never arrive", async () => {
    const inner = new NotingStore(createMemoryStore({ retention: {} }));
    const store = createUnreliableStore(inner, { lost: 1, delay: { min: 0, max: 4 }, wait: turns });
    const arrivals = { before: 0, after: 0, never: 0 };
    for (let index = 1; index <= 300; index += 1) {
      inner.commits.length = 0;
      await expect(store.commit([createOf(taskId(index))])).rejects.toMatchObject({ code: "lost" });
      const before = inner.commits.length;
      // A late call arrives up to two delays later.
      await turns(10);
      expect(inner.commits.length).toBeLessThanOrEqual(1);
      arrivals[before === 1 ? "before" : inner.commits.length === 1 ? "after" : "never"] += 1;
    }
    expect(store.failed).toBe(300);
    for (const count of Object.values(arrivals)) expect(count).toBeGreaterThan(30);
    const { total } = await inner.list({ scope: SCOPE, limit: 1, artifacts: false });
    expect(total).toBe(arrivals.before + arrivals.after);
  });

  it("loses only the answers of commits and claims", async () => {
    const store = createUnreliableStore(createMemoryStore(), { lost: 1 });
    expect(await store.positions([taskId(1)])).toEqual([]);
    expect(await store.claimsOf("node-1")).toEqual({ tasks: [], webhooks: [] });
    await store.heartbeat("node-1", 1);
    await store.health();
    for (const call of [
      () => store.commit([]),
      () => store.claimDue({ node: "node-1", agents: [], limit: 1 }),
      () => store.claimWebhooks({ node: "node-1", agents: [], limit: 1 }),
    ])
      await expect(call()).rejects.toMatchObject({ code: "lost" });
  });

  it("applies a commit once that is repeated with its key after its answers were lost", async () => {
    const inner = new NotingStore(createMemoryStore({ retention: {} }));
    const faults = { lost: 0.5, reorders: true, delay: { min: 1, max: 4 }, wait: turns };
    const store = createUnreliableStore(inner, faults);
    for (let n = 1; n <= 100; n += 1) {
      const operations = [createOf(taskId(2 * n)), postOf(taskId(2 * n), { id: "m" }), createOf(taskId(2 * n + 1))];
      const outcomes = await untilAnswered(() => store.commit(operations, { writer: "w", n }));
      // A commit that was applied twice would be a duplicate.
      expect(outcomes).toEqual([{ status: "ok" }, { status: "ok", node: NODE }, { status: "ok" }]);
    }
    expect(store.failed).toBeGreaterThan(50);
    expect(inner.commits.length).toBeGreaterThan(130);
    expect((await inner.list({ scope: SCOPE, limit: 1, artifacts: false })).total).toBe(200);
  });

  it("reorders the tasks of a commit, keeps the order of each task's operations, and returns the outcomes in the order of the call", async () => {
    const inner = new NotingStore(createMemoryStore({ retention: {} }));
    const store = createUnreliableStore(inner, { reorders: true });
    const tasks = [1, 2, 3, 4].map(taskId);
    const operations = [
      ...tasks.map((task) => createOf(task)),
      ...tasks.map((task) => postOf(task, { id: task })),
      ...tasks.map((task) => writeOf(task, { entries: [statusEntry(2)] })),
    ];
    let moved = 0;
    for (let n = 0; n < 20; n += 1) {
      const expected = operations.map(({ kind }) => (n === 0 ? "ok" : kind === "post" ? "duplicate" : undefined));
      const outcomes = await store.commit(operations);
      const received = inner.commits.at(-1) ?? [];
      for (const [index, status] of expected.entries()) if (status) expect(outcomes[index]?.status).toBe(status);
      for (const task of tasks) {
        const own = (list: readonly StoreOperation[]) => list.filter((operation) => operation.task === task);
        expect(own(received)).toEqual(own(operations));
      }
      if (received.some((operation, index) => operation !== operations[index])) moved += 1;
    }
    expect(moved).toBeGreaterThan(10);
  });

  it("gives a repeated commit the order of the first time", async () => {
    const inner = new NotingStore(createMemoryStore());
    const store = createUnreliableStore(inner, { reorders: true });
    const operations = [1, 2, 3, 4, 5].map((n) => createOf(taskId(n)));
    for (let count = 0; count < 5; count += 1) await store.commit(operations, { writer: "w", n: 7 });
    expect(inner.commits).toHaveLength(5);
    for (const received of inner.commits) expect(received).toEqual(inner.commits[0]);
  });

  it("fails only the named methods; methods that read fail with busy", async () => {
    const store = createUnreliableStore(createMemoryStore(), { failures: { get: 1 } });
    await store.health();
    for (let count = 0; count < 20; count += 1)
      await expect(store.get(taskId(1), { artifacts: false })).rejects.toMatchObject({ code: "busy" });
    expect(store.failed).toBe(20);
  });

  it("changes its faults with setFaults while calls are in progress", async () => {
    const store = createUnreliableStore(createMemoryStore(), { failures: 1 });
    await expect(store.health()).rejects.toBeInstanceOf(StoreError);
    store.setFaults({});
    await store.health();
    store.setFaults({ failures: { health: 1 } });
    await expect(store.health()).rejects.toBeInstanceOf(StoreError);
  });

  it.each([
    [{ delay: { min: 2, max: 1 } }, "delay"],
    [{ delay: { min: -1, max: 1 } }, "delay"],
    [{ delay: { min: 0, max: 0.5 } }, "delay"],
    [{ failures: 1.1 }, "failures"],
    [{ failures: { get: Number.NaN } }, "failures"],
    [{ lost: -0.1 }, "lost"],
    [{ lost: Number.NaN }, "lost"],
    [{ seed: 0.5 }, "seed"],
  ])("refuses %j", (options, field) => {
    expect(() => createUnreliableStore(createMemoryStore(), options)).toThrow(new RegExp(`^${field}: `));
  });
});

/** The first seed for which the condition is true with a delay of 1 ms. */
async function seedOf(holds: (options: UnreliableStoreOptions) => Promise<boolean>): Promise<number> {
  for (let seed = 1; seed < 50; seed += 1) if (await holds({ seed, delay: { min: 1, max: 1 } })) return seed;
  throw new Error("No seed was found.");
}
