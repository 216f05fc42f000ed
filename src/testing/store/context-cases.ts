import assert from "node:assert/strict";
import type { ContextWrite, Outcome, Store } from "../../store/contract.ts";
import {
  claimOf,
  contextId,
  contextWriteOf,
  createOf,
  endOf,
  headOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "../store-operations.ts";
import { outcomes } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const CONTEXT = contextId(1);

async function put(store: Store, key: string, details: Partial<ContextWrite> = {}): Promise<Outcome> {
  const [outcome] = await store.commit([contextWriteOf(T, key, details)]);
  assert(outcome !== undefined);
  return outcome;
}

/** Sets a value that must be accepted, and returns its version. */
async function versionOf(store: Store, key: string, details: Partial<ContextWrite> = {}): Promise<number> {
  const outcome = await put(store, key, details);
  assert(outcome.status === "ok" && outcome.version !== undefined, `${key}: ${outcome.status}`);
  return outcome.version;
}

async function valuesOf(store: Store, context = CONTEXT): Promise<string[]> {
  return (await store.contextValues(SCOPE, context)).map(({ key, value }) => `${key}=${value}`);
}

export const contextCases: readonly StoreCase[] = [
  {
    name: "returns the values of a context with their versions, sorted by the codes of the characters of their keys",
    async run({ store }) {
      assert.deepEqual(await store.contextValues(SCOPE, CONTEXT), []);
      await store.commit([createOf(T)]);
      const expected = new Map<string, object>();
      for (const key of ["b", "é", "B", "_", "a", "ab", "0"]) {
        const version = await versionOf(store, key, { value: `"${key}"` });
        expected.set(key, { key, value: `"${key}"`, version });
      }
      assert.deepEqual(
        await store.contextValues(SCOPE, CONTEXT),
        ["0", "B", "_", "a", "ab", "b", "é"].map((key) => expected.get(key)),
      );
    },
  },
  {
    name: "gives each change of a context a higher version, also after a value or all values were deleted",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const versions = [
        await versionOf(store, "a", { value: "1" }),
        await versionOf(store, "b", { value: "1" }),
        await versionOf(store, "a", { value: "2" }),
        await versionOf(store, "a"),
        await versionOf(store, "a", { value: "3" }),
        await versionOf(store, "a"),
        await versionOf(store, "b"),
        await versionOf(store, "a", { value: "4" }),
        await versionOf(store, "b", { value: "4" }),
      ];
      assert((versions[0] ?? 0) > 0);
      for (const [index, version] of versions.entries()) if (index > 0) assert(version > (versions[index - 1] ?? 0));
      assert.deepEqual(
        (await store.contextValues(SCOPE, CONTEXT)).map(({ version }) => version),
        versions.slice(-2),
      );
    },
  },
  {
    name: "sets or deletes a value only if it has the expected version; 0 means that there is no value",
    async run({ store }) {
      await store.commit([createOf(T)]);
      assert.deepEqual(await put(store, "a", { value: "1", expected: 1 }), { status: "conflict" });
      const first = await versionOf(store, "a", { value: "1", expected: 0 });
      assert.deepEqual(await put(store, "a", { value: "2", expected: 0 }), { status: "conflict" });
      assert.deepEqual(await put(store, "a", { value: "2", expected: first + 1 }), { status: "conflict" });
      await versionOf(store, "b", { value: "1" });
      const second = await versionOf(store, "a", { value: "2", expected: first });
      assert.deepEqual(await put(store, "a", { expected: first }), { status: "conflict" });
      assert.deepEqual(await valuesOf(store), ["a=2", "b=1"]);
      await versionOf(store, "a", { expected: second });
      assert.deepEqual(await put(store, "a", { value: "3", expected: second }), { status: "conflict" });
      await versionOf(store, "a", { value: "3", expected: 0 });
      assert.deepEqual(await valuesOf(store), ["a=3", "b=1"]);
    },
  },
  {
    name: "refuses a value that would take the keys and values of the context over maxBytes of UTF-8, and accepts every delete",
    async run({ store }) {
      await store.commit([createOf(T)]);
      await versionOf(store, "k1", { value: "12345678", maxBytes: 10 });
      assert.deepEqual(await put(store, "k", { value: "", maxBytes: 10 }), { status: "full" });
      assert.deepEqual(await put(store, "k1", { value: "123456789", maxBytes: 10 }), { status: "full" });
      // The value that is replaced does not count. "é" has 2 bytes.
      await versionOf(store, "k1", { value: "éééé", maxBytes: 10 });
      assert.deepEqual(await put(store, "k1", { value: "éééé1", maxBytes: 10 }), { status: "full" });
      await versionOf(store, "é", { value: "1", maxBytes: 13 });
      assert.deepEqual(await put(store, "é", { value: "12", maxBytes: 13 }), { status: "full" });
      assert.deepEqual(await valuesOf(store), ["k1=éééé", "é=1"]);
      await versionOf(store, "é", { maxBytes: 0 });
      await versionOf(store, "unknown", { maxBytes: 0 });
      assert.deepEqual(await valuesOf(store), ["k1=éééé"]);
    },
  },
  {
    name: "stores the step of a context write if the write is applied, and only then",
    async run({ store }) {
      await store.commit([createOf(T, {}, { steps: [{ key: "s1", value: "old" }] })]);
      const step = (value: string): { step: { key: string; value: string } } => ({ step: { key: "s1", value } });
      await put(store, "a", { value: "1", expected: 5, ...step("conflict") });
      await put(store, "a", { value: "1", maxBytes: 0, ...step("full") });
      await put(store, "a", { value: "1", epoch: 2, ...step("fenced") });
      assert.deepEqual(await store.steps(T), [{ key: "s1", value: "old" }]);
      await versionOf(store, "a", { value: "1", ...step("set") });
      assert.deepEqual(await store.steps(T), [{ key: "s1", value: "set" }]);
      await versionOf(store, "a", step("deleted"));
      assert.deepEqual(await store.steps(T), [{ key: "s1", value: "deleted" }]);
    },
  },
  {
    name: "accepts context writes only from the holder of the task's lease, and not after the end",
    async run({ store }) {
      assert.deepEqual(await put(store, "a", { value: "1" }), { status: "not-found" });
      await store.commit([createOf(T)]);
      assert.deepEqual(await put(store, "a", { value: "1", epoch: 2 }), { status: "fenced" });
      await store.commit([claimOf(T, "node-2", true)]);
      assert.deepEqual(await put(store, "a", { value: "1" }), { status: "fenced" });
      await versionOf(store, "a", { value: "1", epoch: 2 });
      await store.commit([writeOf(T, { epoch: 2, release: true })]);
      assert.deepEqual(await put(store, "a", { value: "2", epoch: 2 }), { status: "fenced" });
      await store.commit([claimOf(T, "node-2"), writeOf(T, { epoch: 3, end: endOf(2) })]);
      assert.deepEqual(await put(store, "a", { value: "2", epoch: 3 }), { status: "ended" });
      assert.deepEqual(await valuesOf(store), ["a=1"]);
    },
  },
  {
    name: "applies context writes in the order of the task's operations",
    async run({ store }) {
      const batch = [
        createOf(T),
        contextWriteOf(T, "a", { value: "1" }),
        contextWriteOf(T, "a", { value: "2" }),
        writeOf(T, { entries: [statusEntry(2)] }),
        contextWriteOf(T, "b", { value: "1" }),
        contextWriteOf(T, "a", { value: "3", expected: 0 }),
        writeOf(T, { end: endOf(3) }),
        contextWriteOf(T, "a", { value: "4" }),
      ];
      assert.deepEqual(await outcomes(store, ...batch), ["ok", "ok", "ok", "ok", "ok", "conflict", "ok", "ended"]);
      assert.deepEqual(await valuesOf(store), ["a=2", "b=1"]);
    },
  },
  {
    name: "shares values between the tasks of one context, and not with other contexts, agents, tenants or owners",
    async run({ store }) {
      const others = [{ agent: "other" }, { tenant: "other" }, { owner: "other" }].map((part) => ({
        ...SCOPE,
        ...part,
      }));
      await store.commit([
        createOf(T),
        createOf(taskId(2), { contextShared: true }),
        createOf(taskId(3), { contextId: contextId(2) }),
        ...others.map((scope, index) => createOf(taskId(4 + index), { scope })),
      ]);
      const version = await versionOf(store, "a", { value: "1" });
      const write = (n: number, details: Partial<ContextWrite>): ContextWrite =>
        contextWriteOf(taskId(n), "a", details);
      assert.deepEqual(
        await outcomes(
          store,
          write(2, { value: "2", expected: version }),
          write(3, { value: "3", expected: 0 }),
          ...others.map((_, index) => write(4 + index, { value: `${4 + index}`, expected: 0, maxBytes: 2 })),
        ),
        ["ok", "ok", "ok", "ok", "ok"],
      );
      assert.deepEqual(await valuesOf(store), ["a=2"]);
      assert.deepEqual(await valuesOf(store, contextId(2)), ["a=3"]);
      assert.deepEqual(await valuesOf(store, contextId(3)), []);
      for (const [index, scope] of others.entries())
        assert.equal((await store.contextValues(scope, CONTEXT))[0]?.value, `${4 + index}`);
    },
  },
  {
    name: "deletes the values of a context together with its last task",
    async run({ open, clock }) {
      const store = await open({ maxAge: 100 });
      const ended = (n: number, at: number): ReturnType<typeof writeOf> =>
        writeOf(taskId(n), { end: endOf(2, { head: headOf("completed", { statusAt: START + at }) }) });
      await store.commit([createOf(T), createOf(taskId(2), { contextShared: true })]);
      await store.commit([createOf(taskId(3), { contextId: contextId(2) })]);
      await versionOf(store, "a", { value: "1" });
      await store.commit([contextWriteOf(taskId(3), "b", { value: "1" })]);
      await store.commit([ended(1, 0), ended(2, 50)]);
      clock.now = START + 101;
      assert.equal(await store.sweep(), 1);
      assert.deepEqual(await valuesOf(store), ["a=1"]);
      clock.now = START + 151;
      assert.equal(await store.sweep(), 1);
      assert.deepEqual(await valuesOf(store), []);
      assert.deepEqual(await valuesOf(store, contextId(2)), ["b=1"]);
      await store.commit([createOf(T)]);
      assert.deepEqual(await valuesOf(store), []);
      await versionOf(store, "a", { value: "2", expected: 0 });
    },
  },
];
