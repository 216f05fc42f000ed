import { describe, expect, test } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { CommitWriter } from "./commit-writer.ts";
import { type CommitKey, type Outcome, type Store, StoreError, type StoreErrorCode } from "./contract.ts";

/** A store whose commits fail with the given codes, in order, and then succeed. Collects the keys. */
function failingStore(...codes: readonly StoreErrorCode[]): {
  readonly store: Pick<Store, "commit">;
  readonly keys: (CommitKey | undefined)[];
} {
  const keys: (CommitKey | undefined)[] = [];
  return {
    keys,
    store: {
      async commit(operations, key) {
        const code = codes[keys.length];
        keys.push(key);
        if (code !== undefined) throw new StoreError(code, `failed (${code})`);
        return operations.map((): Outcome => ({ status: "ok" }));
      },
    },
  };
}

/** The result of the promise, or its error, after at most this much time of the clock. */
async function settledWithin(clock: FakeClock, promise: Promise<unknown>, milliseconds: number): Promise<unknown> {
  let result: unknown = "pending";
  promise.then(
    (value) => (result = value),
    (error: unknown) => (result = error),
  );
  for (let passed = 0; passed < milliseconds && result === "pending"; passed += 5) await clock.advance(5);
  return result;
}

describe("a commit writer", () => {
  test("numbers its commits, and repeats one under its number while the store is busy, full or loses the answer", async () => {
    const clock = new FakeClock();
    const { store, keys } = failingStore("busy", "full", "lost");
    const writer = new CommitWriter({ store, clock, name: "w" });
    expect(await settledWithin(clock, writer.commit([]), 1000)).toEqual([]);
    await writer.commit([]);
    expect(keys.map((key) => key?.n)).toEqual([1, 1, 1, 1, 2]);
    expect(new Set(keys.map((key) => key?.writer))).toEqual(new Set(["w"]));
  });

  test("rejects with lost after `retryFor`, although the later tries were refused for another reason", async () => {
    const clock = new FakeClock();
    const { store } = failingStore("busy", "lost", ...Array.from({ length: 99 }, () => "busy" as const));
    const writer = new CommitWriter({ store, clock, name: "w" });
    expect(await settledWithin(clock, writer.commit([], 1000), 1000)).toMatchObject({ code: "lost" });
    expect(writer.isBusy).toBe(false);
  });

  test("is not stopped by time without `retryFor`; once closed, it does not repeat a failed commit", async () => {
    const clock = new FakeClock();
    const { store } = failingStore(...Array.from({ length: 9999 }, () => "full" as const));
    const writer = new CommitWriter({ store, clock, name: "w" });
    const commit = writer.commit([]);
    expect(await settledWithin(clock, commit, 20_000)).toBe("pending");
    writer.close();
    expect(await settledWithin(clock, commit, 1000)).toMatchObject({ code: "full" });
  });

  test("does not repeat a commit whose error is not transient", async () => {
    const { store, keys } = failingStore("unknown");
    const writer = new CommitWriter({ store, clock: new FakeClock(), name: "w" });
    await expect(writer.commit([])).rejects.toMatchObject({ code: "unknown" });
    expect(keys).toHaveLength(1);
  });

  test("rejects with unknown if the store returns another number of outcomes", async () => {
    const store = { commit: async (): Promise<readonly Outcome[]> => [{ status: "ok" }] };
    const writer = new CommitWriter({ store, clock: new FakeClock(), name: "w" });
    await expect(writer.commit([])).rejects.toMatchObject({ code: "unknown" });
  });

  test("refuses a second commit while one is under way", async () => {
    const { store } = failingStore();
    const writer = new CommitWriter({ store, clock: new FakeClock(), name: "w" });
    const first = writer.commit([]);
    await expect(writer.commit([])).rejects.toThrow("one group of operations at a time");
    await first;
  });
});
