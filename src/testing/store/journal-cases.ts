import assert from "node:assert/strict";
import type { JournalRecord, Store } from "../../store/contract.ts";
import {
  advanceOf,
  claimWebhookOf,
  createOf,
  endOf,
  postOf,
  START,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { outcomes, webhookIn } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

function records(...bodies: readonly string[]): JournalRecord[] {
  return bodies.map((body) => ({ key: body.slice(0, 1), body }));
}

async function journal(store: Store): Promise<string[]> {
  return (await store.journal(T)).map(({ body }) => body);
}

export const journalCases: readonly StoreCase[] = [
  {
    name: "returns the journal in the order in which its keys were first written; a record with a known key replaces the earlier one in its place",
    async run({ store }) {
      await store.commit([createOf(T, {}, { journal: records("b1", "a1") }), createOf(taskId(2))]);
      assert.deepEqual(await store.journal(T), records("b1", "a1"));
      await store.commit([writeOf(T, { journal: records("c1", "b2") })]);
      await store.commit([writeOf(T, { journal: records("d1", "a2", "d2", "0") })]);
      await store.commit([writeOf(T)]);
      assert.deepEqual(await store.journal(T), records("b2", "a2", "c1", "d2", "0"));
      assert.deepEqual(await store.journal(taskId(2)), []);
      assert.deepEqual(await store.journal(taskId(9)), []);
    },
  },
  {
    name: "keeps the journal after the end of the task, and stores the one of a task that ends in its first commit",
    async run({ store }) {
      await store.commit([createOf(T, {}, { journal: records("a1"), end: endOf(2) })]);
      assert.deepEqual(await journal(store), ["a1"]);
      const other = taskId(2);
      await store.commit([createOf(other, {}, { journal: records("a1") })]);
      await store.commit([writeOf(other, { journal: records("b1", "a2"), end: endOf(2), forgetSteps: true })]);
      assert.deepEqual(await store.journal(other), records("a2", "b1"));
    },
  },
  {
    name: "adds nothing to the journal with a refused write, and everything with a write whose end was refused",
    async run({ store }) {
      await store.commit([createOf(T), postOf(T, { id: "m" })]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 2, journal: records("a1") })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { journal: records("a1"), end: endOf(9) })), ["fenced"]);
      assert.deepEqual(await outcomes(store, createOf(T, {}, { journal: records("a1") })), ["duplicate"]);
      assert.deepEqual(await journal(store), []);
      const write = writeOf(T, { journal: records("b1"), end: endOf(2, { unlessInbox: true }) });
      assert.deepEqual(await outcomes(store, write), ["inbox"]);
      assert.deepEqual(await journal(store), ["b1"]);
      await store.commit([writeOf(T, { end: endOf(2) })]);
      assert.deepEqual(await outcomes(store, writeOf(T, { journal: records("c1") })), ["ended"]);
      assert.deepEqual(await journal(store), ["b1"]);
    },
  },
  {
    name: "adds the record of a delivery to the journal of its task, before and after the task's end, unless the advance is fenced",
    async run({ store }) {
      await store.commit([createOf(T, { webhook: webhookOf("w") }, { journal: records("a1") })]);
      await store.commit([claimWebhookOf(T, "w")]);
      const { epoch } = await webhookIn(store, "w");
      const advance = (body: string, details: object = {}): ReturnType<typeof advanceOf> =>
        advanceOf(T, "w", { epoch, journal: { key: body.slice(0, 1), body }, ...details });
      assert.deepEqual(await outcomes(store, advance("d1")), ["ok"]);
      assert.deepEqual(await outcomes(store, advance("x1", { epoch: epoch + 1 })), ["fenced"]);
      assert.deepEqual(await outcomes(store, advance("e1", { state: "idle" })), ["inbox"]);
      await store.commit([writeOf(T, { end: endOf(2), journal: records("b1") })]);
      assert.deepEqual(await outcomes(store, advance("d2", { cursor: 2, state: "idle" })), ["ok"]);
      assert.deepEqual(await journal(store), ["a1", "d2", "e1", "b1"]);
    },
  },
  {
    name: "deletes the journal with the log, and with the task",
    async run({ open, clock }) {
      const store = await open({ logAge: 100, maxAge: 1000 });
      const ended = createOf(T, {}, { journal: records("a1"), end: endOf(2) });
      await store.commit([ended, createOf(taskId(2), {}, { journal: records("a1") })]);
      clock.now = START + 100;
      assert.equal(await store.sweep(), 0);
      assert.deepEqual(await journal(store), ["a1"]);
      clock.now = START + 101;
      assert.equal(await store.sweep(), 1);
      assert.deepEqual(await journal(store), []);
      assert.deepEqual(await store.journal(taskId(2)), records("a1"));
      clock.now = START + 1001;
      assert.equal(await store.sweep(), 1);
      assert.deepEqual(await outcomes(store, createOf(T)), ["ok"]);
      assert.deepEqual(await journal(store), []);
    },
  },
];
