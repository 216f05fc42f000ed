import assert from "node:assert/strict";
import { type CommitKey, StoreError, type StoreOperation } from "../../store/contract.ts";
import {
  claimOf,
  claimWebhookOf,
  contextWriteOf,
  createOf,
  endOf,
  NODE,
  postOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { outcomes, recordOf, webhookIn } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const LEASE = 10_000;

function keyOf(n: number, writer = "writer-1"): CommitKey {
  return { writer, n };
}

/** Commits with a key, and the order of operations. */
export const commitCases: readonly StoreCase[] = [
  {
    name: "returns the same outcomes for a commit that is repeated with its key, and applies nothing twice",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(taskId(2), { webhook: webhookOf("w") })]);
      const operations: readonly StoreOperation[] = [
        createOf(T),
        createOf(T),
        postOf(T, { id: "m" }),
        claimOf(T, "node-2", true),
        writeOf(T, { epoch: 2, entries: [statusEntry(2)], taken: ["m"] }),
        contextWriteOf(T, "k", { epoch: 2, value: "1" }),
        contextWriteOf(T, "k", { epoch: 2, value: "2", expected: 7 }),
        claimWebhookOf(taskId(2), "w"),
        claimWebhookOf(taskId(2), "w", "node-2"),
        writeOf(taskId(9)),
      ];
      const first = await store.commit(operations, keyOf(1));
      assert.deepEqual(
        first.map(({ status }) => status),
        ["ok", "duplicate", "ok", "ok", "ok", "ok", "conflict", "ok", "held", "not-found"],
      );
      // What happened since does not change the outcomes.
      const ended = await store.commit([writeOf(T, { epoch: 2, end: endOf(3) })], keyOf(1, "writer-2"));
      assert.deepEqual(ended, [{ status: "ok" }]);
      const before = [await recordOf(store), await webhookIn(store, "w", taskId(2))];
      for (let count = 0; count < 3; count++) assert.deepEqual(await store.commit(operations, keyOf(1)), first);
      assert.deepEqual([await recordOf(store), await webhookIn(store, "w", taskId(2))], before);
      assert.deepEqual(await store.inbox(T), []);
    },
  },
  {
    name: "remembers the last commit of each writer, and applies a commit of another writer or without a key",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const writers = ["a", "b", "c"];
      const post = (id: string, key?: CommitKey): Promise<unknown> => store.commit([postOf(T, { id }, 1000)], key);
      for (const n of [1, 2, 7]) for (const writer of writers) await post(`${writer}${n}`, keyOf(n, writer));
      await post("x");
      await post("y");
      const ids = (await store.inbox(T)).map(({ id }) => id);
      assert.equal(ids.length, 11);
      await store.commit([writeOf(T, { taken: ids })]);
      for (const writer of writers)
        assert.deepEqual(await post(`${writer}7`, keyOf(7, writer)), [{ status: "ok", node: NODE }]);
      assert.deepEqual(await store.inbox(T), []);
    },
  },
  {
    name: "refuses a commit that arrives after a later one of its writer",
    async run({ store }) {
      await store.commit([createOf(T)]);
      await store.commit([postOf(T, { id: "m1" })], keyOf(1));
      await store.commit([writeOf(T, { taken: ["m1"] })], keyOf(3));
      const isLost = (thrown: unknown): boolean => thrown instanceof StoreError && thrown.code === "lost";
      // Applied before, and never applied.
      await assert.rejects(store.commit([postOf(T, { id: "m1" })], keyOf(1)), isLost);
      await assert.rejects(store.commit([postOf(T, { id: "m2" })], keyOf(2)), isLost);
      assert.deepEqual(await store.inbox(T), []);
    },
  },
  {
    name: "remembers a commit that was refused as a whole, and an empty one",
    async run({ store }) {
      const write = writeOf(T, { entries: [statusEntry(2)] });
      assert.deepEqual(await store.commit([write], keyOf(1)), [{ status: "not-found" }]);
      assert.deepEqual(await store.commit([], keyOf(1, "writer-2")), []);
      await store.commit([createOf(T)]);
      assert.deepEqual(await store.commit([write], keyOf(1)), [{ status: "not-found" }]);
      assert.deepEqual(await store.commit([write], keyOf(1, "writer-2")), []);
      assert.equal((await recordOf(store)).seq, 1);
      assert.deepEqual(await store.commit([write], keyOf(3)), [{ status: "ok" }]);
    },
  },
  {
    name: "applies the operations of each task in their order, if those of several tasks alternate",
    async run({ store }) {
      const tasks = Array.from({ length: 8 }, (_, index) => taskId(index));
      const batch = [
        ...tasks.map((task) => createOf(task)),
        ...tasks.toReversed().map((task) => postOf(task, { id: "first" })),
        ...tasks.map((task) => writeOf(task, { entries: [statusEntry(2)], end: endOf(3, { unlessInbox: true }) })),
        ...tasks.map((task) => writeOf(task, { taken: ["first"], end: endOf(3, { unlessInbox: true }) })),
        ...tasks.toReversed().map((task) => postOf(task, { id: "last" })),
      ];
      const each = (status: string): string[] => tasks.map(() => status);
      assert.deepEqual(await outcomes(store, ...batch), [
        ...each("ok"),
        ...each("ok"),
        ...each("inbox"),
        ...each("ok"),
        ...each("ended"),
      ]);
      for (const { seq } of await store.positions(tasks)) assert.equal(seq, 3);
    },
  },
];
