import assert from "node:assert/strict";
import type { StoreCase } from "./store-case.ts";
import {
  claimOf,
  createOf,
  endOf,
  headOf,
  NODE,
  postOf,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "./store-operations.ts";
import { outcomes, recordOf } from "./store-write-cases.ts";

const T = taskId(1);
const LEASE = 10_000;

export const storeLeaseCases: readonly StoreCase[] = [
  {
    name: "refuses a claim while a living node has the lease, unless the claim is forced; the epoch then rises by 1",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T)]);
      assert.deepEqual(await store.commit([claimOf(T, "node-2"), claimOf(T, NODE)]), [
        { status: "held", node: NODE },
        { status: "held", node: NODE },
      ]);
      assert.equal((await recordOf(store)).epoch, 1);
      assert.deepEqual(await store.commit([claimOf(T, "node-2", true), claimOf(T, "node-3", true)]), [
        { status: "ok", epoch: 2 },
        { status: "ok", epoch: 3 },
      ]);
      const record = await recordOf(store);
      assert.equal(record.node, "node-3");
      assert.equal(record.epoch, 3);
    },
  },
  {
    name: "gives a released lease to the first claim, and fences the node that released it",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      await store.commit([createOf(T), writeOf(T, { release: true })]);
      assert.equal((await recordOf(store)).node, undefined);
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await store.commit([claimOf(T, "node-2"), claimOf(T, NODE)]), [
        { status: "ok", epoch: 2 },
        { status: "held", node: "node-2" },
      ]);
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 2, entries: [statusEntry(2)] })), ["ok"]);
    },
  },
  {
    name: "lets a lease be claimed as soon as the heartbeat of its node has expired, and not 1 ms earlier",
    async run({ store, clock }) {
      assert.deepEqual(await store.heartbeat(NODE, LEASE), { now: START });
      await store.commit([createOf(T)]);
      clock.now += LEASE - 1;
      assert.deepEqual(await outcomes(store, claimOf(T, "node-2")), ["held"]);
      assert.deepEqual(await store.heartbeat(NODE, LEASE), { now: START + LEASE - 1 });
      clock.now += LEASE - 1;
      assert.deepEqual(await outcomes(store, claimOf(T, "node-2")), ["held"]);
      clock.now += 1;
      assert.deepEqual(await store.commit([claimOf(T, "node-2")]), [{ status: "ok", epoch: 2 }]);
    },
  },
  {
    name: "releases all leases of a node as soon as the node leaves, and none of other nodes",
    async run({ store }) {
      const other = taskId(2);
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      await store.commit([createOf(T), createOf(other, { node: "node-2" })]);
      await store.leave(NODE);
      assert.equal((await recordOf(store)).node, undefined);
      assert.equal((await recordOf(store, other)).node, "node-2");
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["fenced"]);
      await store.heartbeat(NODE, LEASE);
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, claimOf(T, "node-2"), claimOf(other, NODE)), ["ok", "held"]);
      await store.leave("node-unknown");
    },
  },
  {
    name: "finds tasks due that are active, have a message or a cancel, or reached their wake time; oldest first, up to the limit",
    async run({ store, clock }) {
      const waiting = headOf("input-required", { active: false });
      await store.commit([
        createOf(taskId(8)),
        createOf(taskId(3), {}, { head: waiting }),
        createOf(taskId(4), {}, { head: headOf("working", { active: false, wakeAt: START + 50 }) }),
        createOf(taskId(5), {}, { head: waiting }),
        createOf(taskId(6), {}, { head: waiting }),
        createOf(taskId(7)),
        createOf(taskId(9), {}, { end: endOf(2) }),
      ]);
      await store.commit([postOf(taskId(5), { id: "m" }), postOf(taskId(6), { id: "c", kind: "cancel" })]);
      assert.deepEqual(await store.due(10), [taskId(8), taskId(5), taskId(6), taskId(7)]);
      clock.now += 50;
      assert.deepEqual(await store.due(10), [taskId(8), taskId(4), taskId(5), taskId(6), taskId(7)]);
      assert.deepEqual(await store.due(2), [taskId(8), taskId(4)]);
    },
  },
  {
    name: "finds no task due whose lease a living node has",
    async run({ store, clock }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T), createOf(taskId(2), { node: "node-2" }), postOf(T, { id: "m" })]);
      assert.deepEqual(await store.due(10), [taskId(2)]);
      clock.now += LEASE;
      assert.deepEqual(await store.due(10), [T, taskId(2)]);
      await store.heartbeat(NODE, LEASE);
      assert.deepEqual(await store.due(10), [taskId(2)]);
      await store.leave(NODE);
      assert.deepEqual(await store.due(10), [T, taskId(2)]);
    },
  },
  {
    name: "finds a released task due again only when something happens to that task",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T)]);
      await store.commit([
        writeOf(T, { head: headOf("input-required", { active: false }), entries: [statusEntry(2)], release: true }),
      ]);
      assert.deepEqual(await store.due(10), []);
      await store.commit([postOf(T, { id: "m" })]);
      assert.deepEqual(await store.due(10), [T]);
      await store.commit([
        claimOf(T, NODE),
        writeOf(T, { epoch: 2, taken: ["m"], head: headOf("working"), release: true }),
      ]);
      assert.deepEqual(await store.due(10), [T]);
      await store.commit([claimOf(T, NODE), writeOf(T, { epoch: 3, end: endOf(3) })]);
      assert.deepEqual(await store.due(10), []);
    },
  },
  {
    name: "returns the earliest wake time of the tasks whose lease no living node has",
    async run({ store, clock }) {
      assert.equal(await store.nextWake(), undefined);
      await store.heartbeat(NODE, LEASE);
      const at = (wakeAt: number): ReturnType<typeof headOf> => headOf("working", { active: false, wakeAt });
      await store.commit([
        createOf(taskId(1), {}, { head: at(START + 10) }),
        createOf(taskId(2), { node: "gone" }, { head: at(START + 30) }),
        createOf(taskId(3), {}, { head: at(START + 20), release: true }),
        createOf(taskId(4), {}, { head: headOf("working"), release: true }),
        createOf(
          taskId(5),
          {},
          { head: at(START + 5), end: endOf(2, { head: headOf("failed", { wakeAt: START + 1 }) }) },
        ),
      ]);
      assert.equal(await store.nextWake(), START + 20);
      clock.now += LEASE;
      assert.equal(await store.nextWake(), START + 10);
      await store.commit([claimOf(taskId(1), NODE), writeOf(taskId(1), { epoch: 2, head: headOf("working") })]);
      assert.equal(await store.nextWake(), START + 20);
    },
  },
];
