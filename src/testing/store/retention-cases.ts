import assert from "node:assert/strict";
import { ArtifactFold } from "../../protocol/fold.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { Store, TaskWrite } from "../../store/contract.ts";
import {
  chunkEntry,
  createOf,
  endOf,
  headOf,
  postOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "../store-operations.ts";
import { outcomes } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

/** A task that ended `at` ms after the start. */
function ended(n: number, at = n): TaskWrite {
  return createOf(
    taskId(n),
    { messageId: `m${n}` },
    { end: endOf(2, { head: headOf("completed", { statusAt: START + at }) }) },
  );
}

async function kept(store: Store, ids: readonly number[]): Promise<number[]> {
  const found: number[] = [];
  for (const n of ids) if ((await store.get(taskId(n), { artifacts: false })) !== undefined) found.push(n);
  return found;
}

async function total(store: Store, settle: () => Promise<void>): Promise<number> {
  await settle();
  return (await store.list({ scope: SCOPE, limit: 1, artifacts: false, history: 0 })).total;
}

export const storeRetentionCases: readonly StoreCase[] = [
  {
    name: "deletes nothing without a retention option",
    async run({ store, clock }) {
      await store.commit([ended(1), createOf(taskId(2))]);
      clock.now += 1e12;
      assert.equal(await store.sweep(), 0);
      assert.deepEqual(await kept(store, [1, 2]), [1, 2]);
    },
  },
  {
    name: "deletes the oldest finished tasks, never an active one, to make room for a new task",
    async run({ open, settle }) {
      const store = await open({ maxTasks: 5, pruneCount: 2 });
      for (const write of [createOf(taskId(1)), ended(2), ended(3), ended(4), createOf(taskId(5))])
        await store.commit([write]);
      await settle();
      assert.deepEqual(await outcomes(store, createOf(taskId(6))), ["ok"]);
      assert.deepEqual(await kept(store, [1, 2, 3, 4, 5, 6]), [1, 4, 5, 6]);
      assert.equal(await total(store, settle), 4);
      assert.equal(await store.findByMessage(SCOPE, "m2"), undefined);
      assert.equal((await store.findByMessage(SCOPE, "m4"))?.task, taskId(4));
      assert.deepEqual(await store.log(taskId(2), 0, 100), []);
      assert.deepEqual(await outcomes(store, createOf(taskId(2))), ["ok"]);
    },
  },
  {
    name: "does not return a deleted task, however often it was read before",
    async run({ open, clock, settle }) {
      const store = await open({ maxTasks: 2, pruneCount: 1, maxAge: 100 });
      const result = (n: number): TaskWrite =>
        createOf(taskId(n), {}, { end: endOf(2, { head: headOf("completed", { statusAt: START }), artifacts: "[]" }) });
      await store.commit([result(1), result(2)]);
      const read = async (n: number): Promise<string | undefined> =>
        (await store.get(taskId(n), { artifacts: true }))?.artifacts;
      for (const n of [1, 2, 1, 2, 1, 2]) assert.equal(await read(n), "[]");
      await settle();
      assert.deepEqual(await outcomes(store, createOf(taskId(3))), ["ok"]);
      assert.deepEqual([await read(1), await read(2), await read(2)], [undefined, "[]", "[]"]);
      clock.now = START + 101;
      assert.equal(await store.sweep(), 1);
      assert.equal(await read(2), undefined);
    },
  },
  {
    name: "refuses new tasks while it is full of unfinished ones, and accepts them again after one has ended",
    async run({ open, settle }) {
      const store = await open({ maxTasks: 2, pruneCount: 10 });
      assert.deepEqual(await outcomes(store, createOf(taskId(1)), createOf(taskId(2))), ["ok", "ok"]);
      await settle();
      assert.deepEqual(await outcomes(store, createOf(taskId(3)), createOf(taskId(1))), ["full", "duplicate"]);
      assert.equal(await store.get(taskId(3), { artifacts: false }), undefined);
      assert.deepEqual(
        await outcomes(store, writeOf(taskId(1), { entries: [statusEntry(2)] }), postOf(taskId(2), { id: "m" })),
        ["ok", "ok"],
      );
      assert.deepEqual(await outcomes(store, writeOf(taskId(2), { end: endOf(2) })), ["ok"]);
      await settle();
      assert.deepEqual(await outcomes(store, createOf(taskId(3))), ["ok"]);
      assert.deepEqual(await kept(store, [1, 2, 3]), [1, 3]);
    },
  },
  {
    name: "sweeps finished tasks by age, and never unfinished ones",
    async run({ open, clock, settle }) {
      const store = await open({ maxAge: 100 });
      const old = headOf("working", { statusAt: START - 1000 });
      await store.commit([ended(1, 0), ended(2, 50), createOf(taskId(3), {}, { head: old }), ended(4, 100)]);
      clock.now = START + 100;
      assert.equal(await store.sweep(), 0);
      clock.now = START + 151;
      assert.equal(await store.sweep(), 2);
      assert.deepEqual(await kept(store, [1, 2, 3, 4]), [3, 4]);
      assert.equal(await total(store, settle), 2);
      assert.equal(await store.findByMessage(SCOPE, "m1"), undefined);
      assert.deepEqual(await store.log(taskId(1), 0, 100), []);
      assert.equal(await store.sweep(), 0);
    },
  },
  {
    name: "deletes every expired task when it is swept until nothing is due",
    async run({ open, clock, settle }) {
      const store = await open({ maxAge: 100 });
      await store.commit(Array.from({ length: 1200 }, (_, n) => ended(n, 0)));
      clock.now = START + 101;
      let deleted = 0;
      for (let count = await store.sweep(); count > 0; count = await store.sweep()) deleted += count;
      assert.equal(deleted, 1200);
      assert.equal(await total(store, settle), 0);
    },
  },
  {
    name: "deletes the log of tasks finished longer than logAge ago, and keeps their results",
    async run({ open, clock }) {
      const store = await open({ logAge: 100 });
      await store.commit([createOf(taskId(1)), createOf(taskId(2)), createOf(taskId(3))]);
      const entries = [chunkEntry(2, "a", false), chunkEntry(3, "b"), chunkEntry(4, "c")];
      const fold = new ArtifactFold();
      for (const entry of entries) {
        await store.commit([writeOf(taskId(1), { entries: [entry] }), writeOf(taskId(3), { entries: [entry] })]);
        fold.add(readEvent(entry.body));
      }
      await store.commit([
        writeOf(taskId(1), { end: endOf(5) }),
        writeOf(taskId(2), { end: endOf(2, { artifacts: '["given"]' }) }),
      ]);
      clock.now = START + 101;
      assert.equal(await store.sweep(), 2);
      const first = await store.get(taskId(1), { artifacts: true });
      assert.equal(first?.firstSeq, 6);
      assert.equal(first?.seq, 5);
      assert.deepEqual(JSON.parse(first?.artifacts ?? "null"), fold.artifacts());
      assert.deepEqual(await store.log(taskId(1), 0, 1e6), []);
      const second = await store.get(taskId(2), { artifacts: true });
      assert.equal(second?.firstSeq, 3);
      assert.equal(second?.artifacts, '["given"]');
      const third = await store.get(taskId(3), { artifacts: true });
      assert.equal(third?.firstSeq, 1);
      assert.equal((await store.log(taskId(3), 0, 1e6)).length, 4);
      assert.equal(await store.sweep(), 0);
      assert.deepEqual(await store.positions([taskId(1)]), [{ id: taskId(1), seq: 5, ended: true }]);
    },
  },
];
