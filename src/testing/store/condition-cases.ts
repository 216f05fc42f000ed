import assert from "node:assert/strict";
import type { InboxPost } from "../../store/contract.ts";
import { createOf, endOf, postOf, statusEntry, taskId, writeOf } from "../store-operations.ts";
import { outcomes } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

/** Posts that depend on the task's last seq. */
export const conditionCases: readonly StoreCase[] = [
  {
    name: "accepts a post with expectedSeq only at that seq, and only if the task has accepted no other message since",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const post = (id: string, expectedSeq: number): InboxPost => ({ ...postOf(T, { id }), expectedSeq });
      assert.deepEqual(await store.commit([post("a", 0), post("a", 2)]), [
        { status: "changed", seq: 1 },
        { status: "changed", seq: 1 },
      ]);
      assert.deepEqual(await outcomes(store, postOf(T, { id: "c", kind: "cancel" }), post("a", 1)), ["ok", "ok"]);
      // The message waits; then the run consumes it without an event; then an event follows.
      assert.deepEqual(await store.commit([post("b", 1), post("a", 1)]), [
        { status: "changed", seq: 1 },
        { status: "duplicate" },
      ]);
      await store.commit([writeOf(T, { taken: ["a"], history: [{ after: 1, body: '"a"', inbox: "a" }] })]);
      assert.deepEqual(await store.commit([post("b", 1)]), [{ status: "changed", seq: 1 }]);
      // A message of the agent is no message of another caller.
      await store.commit([writeOf(T, { entries: [statusEntry(2)], history: [{ after: 2, body: '"agent"' }] })]);
      assert.deepEqual(await outcomes(store, post("b", 1), post("b", 2)), ["changed", "ok"]);
      await store.commit([writeOf(T, { taken: ["b"], end: endOf(3) })]);
      assert.deepEqual(await store.commit([post("d", 2), post("d", 3)]), [
        { status: "changed", seq: 3 },
        { status: "ended" },
      ]);
    },
  },
];
