import assert from "node:assert/strict";
import type { ClaimedTask, Store } from "../../store/contract.ts";
import { chunkEntry, claimOf, createOf, endOf, postOf, statusEntry, taskId, writeOf } from "../store-operations.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const MUCH = 1_000_000;

/** What a node reads if the store has no `claimed`. */
async function readOneByOne(store: Store, n: number): Promise<ClaimedTask> {
  const id = taskId(n);
  const [record, steps, inbox, entries] = await Promise.all([
    store.get(id, { artifacts: false }),
    store.steps(id),
    store.inbox(id),
    store.log(id, 0, MUCH),
  ]);
  assert(record !== undefined);
  return { record, steps, inbox, ...(entries.length > 0 && { entries }) };
}

function sorted(tasks: readonly ClaimedTask[]): readonly ClaimedTask[] {
  return tasks
    .map((task) => ({ ...task, steps: task.steps.toSorted((a, b) => (a.key < b.key ? -1 : 1)) }))
    .toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1));
}

/** `Store.claimed`, which a store may leave out. */
export const claimedCases: readonly StoreCase[] = [
  {
    name: "reads claimed tasks in one call as it reads them one by one",
    async run({ store, second }) {
      if (store.claimed === undefined || second.claimed === undefined) return;
      const steps = [
        { key: "b", value: '{"n":"\\u0000"}' },
        { key: "a\u0000", value: "1" },
      ];
      const history = [{ after: 0, body: '{"text":"a\\u0000"}' }];
      await store.commit([
        createOf(T, {}, { history }),
        createOf(taskId(2)),
        createOf(taskId(3), {}, { end: endOf(2) }),
      ]);
      await store.commit([writeOf(T, { entries: [chunkEntry(2, 'é\u0000"', false)], steps })]);
      await store.commit([writeOf(T, { entries: [chunkEntry(3, "b"), statusEntry(4)] })]);
      await store.commit([postOf(T, { id: "z\u0000" }), postOf(T, { id: "a" }), claimOf(T, "other", true)]);
      const expected = await Promise.all([1, 2, 3].map((n) => readOneByOne(store, n)));
      const read = await second.claimed([taskId(3), T, taskId(9), taskId(2)], MUCH);
      assert.deepEqual(sorted(read), sorted(expected));
      assert.deepEqual(await store.claimed([], MUCH), []);
    },
  },
  {
    name: "reads the whole log of a claimed task or nothing of it, if it has more bytes than the caller accepts",
    async run({ store }) {
      if (store.claimed === undefined) return;
      const entries = Array.from({ length: 40 }, (_, index) => chunkEntry(index + 2, "y".repeat(500), index > 0));
      await store.commit([createOf(T), createOf(taskId(2))]);
      for (const entry of entries) await store.commit([writeOf(T, { entries: [entry] })]);
      const lengths = async (maxBytes: number) => {
        const read = sorted((await store.claimed?.([T, taskId(2)], maxBytes)) ?? []);
        return read.map((task) => [task.record.seq, task.entries?.length]);
      };
      assert.deepEqual(await lengths(3000), [
        [41, undefined],
        [1, 1],
      ]);
      assert.deepEqual(await lengths(MUCH), [
        [41, 41],
        [1, 1],
      ]);
    },
  },
];
