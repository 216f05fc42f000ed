import assert from "node:assert/strict";
import { claimOf, createOf, NODE, START, statusEntry, taskId, writeOf } from "../store-operations.ts";
import { outcomes, recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

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
];
