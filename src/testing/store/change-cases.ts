import assert from "node:assert/strict";
import type { KnownTask, Store, TaskChange } from "../../store/contract.ts";
import { chunkEntry, createOf, endOf, headOf, postOf, statusEntry, taskId, writeOf } from "../store-operations.ts";
import { recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const MUCH = 1_000_000;

function knownOf(n: number, after: number, maxBytes = MUCH): KnownTask {
  return { id: taskId(n), after, maxBytes };
}

async function changeOf(store: Store, known: KnownTask, messages = 10): Promise<TaskChange | undefined> {
  const changes = await store.changes([known], messages);
  assert(changes.length <= 1);
  return changes[0];
}

/** `Store.changes`. */
export const changeCases: readonly StoreCase[] = [
  {
    name: "returns seq, head and later events of the tasks that have changed, and leaves out the others",
    async run({ store, second }) {
      const [one, two, three] = [chunkEntry(2, "a", false), chunkEntry(3, "b"), chunkEntry(4, "c")];
      await store.commit([createOf(T), createOf(taskId(2)), createOf(taskId(3), {}, { end: endOf(2) })]);
      await store.commit([writeOf(T, { entries: [one] })]);
      const head = headOf("working", { metadata: '{"a":1}', runner: '{"attempt":2}' });
      await store.commit([writeOf(T, { entries: [two, three], head })]);
      const known = [knownOf(1, 2), knownOf(2, 1), knownOf(3, 1), knownOf(9, 0), knownOf(2, 7)];
      const changes = (await second.changes(known, 10)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const ended = await recordOf(store, taskId(3));
      assert.deepEqual(changes, [
        { id: T, seq: 4, head, entries: [two, three], consumed: [] },
        { id: taskId(3), seq: 2, head: ended.head, entries: await store.log(taskId(3), 1, MUCH), consumed: [] },
      ]);
      // Any cursor, also one within a commit.
      for (const after of [0, 1, 2, 3])
        assert.deepEqual((await changeOf(second, knownOf(1, after)))?.entries, await store.log(T, after, MUCH));
      assert.deepEqual(await store.changes([], 10), []);
      assert.deepEqual(await store.changes([knownOf(1, 4)], 10), []);
    },
  },
  {
    name: "returns either all later events of a task or none, if they have more bytes than the caller accepts",
    async run({ store }) {
      const entries = Array.from({ length: 40 }, (_, index) => chunkEntry(index + 2, "y".repeat(500), index > 0));
      await store.commit([createOf(T), createOf(taskId(2))]);
      for (const entry of entries) await store.commit([writeOf(T, { entries: [entry] })]);
      await store.commit([writeOf(taskId(2), { entries: [chunkEntry(2, "small", false)] })]);
      for (const maxBytes of [0, 1, 3000]) {
        const change = await changeOf(store, knownOf(1, 1, maxBytes));
        assert.deepEqual([change?.seq, change !== undefined && "entries" in change], [41, false]);
      }
      assert.deepEqual((await changeOf(store, knownOf(1, 1)))?.entries, entries);
      // The limit is that of each task.
      const both = await store.changes([knownOf(1, 1, 1000), knownOf(2, 1, 1000)], 10);
      assert.deepEqual(
        both.map(({ id, entries: found }) => [id, found?.length]).toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
        [
          [T, undefined],
          [taskId(2), 1],
        ],
      );
    },
  },
  {
    name: "returns the consumed inbox entries among the last messages of a task that has changed",
    async run({ store }) {
      const message = (after: number, inbox?: string) => ({
        ...{ after, body: `{"n":${after}}` },
        ...(inbox !== undefined && { inbox }),
      });
      await store.commit([createOf(T, {}, { history: [message(0)] })]);
      await store.commit([postOf(T, { id: "a" }), postOf(T, { id: "b" })]);
      await store.commit([writeOf(T, { taken: ["a"], history: [message(1, "a")], entries: [statusEntry(2)] })]);
      await store.commit([writeOf(T, { taken: ["b"], history: [message(2, "b")], entries: [statusEntry(3)] })]);
      const consumed = async (messages: number) => (await changeOf(store, knownOf(1, 1), messages))?.consumed;
      const [a, b] = [
        { inbox: "a", after: 1 },
        { inbox: "b", after: 2 },
      ];
      assert.deepEqual(await consumed(3), [a, b]);
      assert.deepEqual(await consumed(2), [a, b]);
      assert.deepEqual(await consumed(1), [b]);
      assert.deepEqual(await consumed(0), []);
    },
  },
  {
    name: "returns the changes of a task whose events were deleted without them",
    async run({ open, clock }) {
      const store = await open({ logAge: 1000 });
      await store.commit([createOf(T, {}, { end: endOf(2) })]);
      clock.now += 100_000;
      while ((await store.sweep()) > 0);
      const change = await changeOf(store, knownOf(1, 1));
      assert.deepEqual([change?.seq, change?.head.state, change?.entries], [2, "completed", undefined]);
    },
  },
];
