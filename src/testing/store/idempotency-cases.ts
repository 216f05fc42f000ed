import assert from "node:assert/strict";
import type { TaskCreate } from "../../store/contract.ts";
import { createOf, endOf, SCOPE, START, taskId, uniquePostOf, webhookOf, writeOf } from "../store-operations.ts";
import { outcomes, unclaimedWebhooks } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

function idempotent(since: number, digest = "d"): Partial<TaskCreate> {
  return { messageId: "m", idempotency: { since, digest } };
}

/** Tasks that are created with `idempotency`, and posts with a `uniquePrefix`. */
export const storeIdempotencyCases: readonly StoreCase[] = [
  {
    name: "refuses a post while an entry whose id has its unique prefix waits or is in the history; other tasks do not count",
    async run({ store }) {
      const post = async (id: string, prefix?: string): Promise<string> => {
        const [outcome] = await store.commit([uniquePostOf(taskId(1), id, prefix)]);
        return outcome?.status ?? "";
      };
      await store.commit([createOf(taskId(1)), createOf(taskId(2))]);
      assert.equal(await post("a%_:1", "a%_:"), "ok");
      assert.equal(await post("a%_:2", "a%_:"), "duplicate");
      assert.equal(await post("abc:1", "abc:"), "ok");
      assert.equal(await post("a%_:4"), "ok");
      assert.deepEqual(await outcomes(store, uniquePostOf(taskId(2), "a%_:3", "a%_:")), ["ok"]);
      const history = [{ after: 1, body: "{}", inbox: "a%_:1" }];
      await store.commit([writeOf(taskId(1), { taken: ["a%_:1", "a%_:4"], history })]);
      assert.equal(await post("a%_:1", "a%_:"), "duplicate");
      assert.equal(await post("a%_:2", "a%_:"), "duplicate");
      assert.equal(await post("a%_:2", "a%_:2"), "ok");
    },
  },
  {
    name: "creates one task for an idempotent message, and returns its id when the message is repeated",
    async run({ store, settle }) {
      assert.deepEqual(await store.commit([createOf(taskId(1), idempotent(START))]), [{ status: "ok" }]);
      assert.deepEqual(await store.commit([createOf(taskId(2), idempotent(START, "other"))]), [
        { status: "repeated", task: taskId(1) },
      ]);
      assert.deepEqual(await store.commit([createOf(taskId(3), idempotent(START - 5), { end: endOf(2) })]), [
        { status: "repeated", task: taskId(1) },
      ]);
      await settle();
      assert.equal((await store.list({ scope: SCOPE, limit: 9, artifacts: false, history: 0 })).total, 1);
      const trace = { task: taskId(1), createdAt: START, digest: "d" };
      assert.deepEqual(await store.findByMessage(SCOPE, "m"), trace);
    },
  },
  {
    name: "reports a repeated message as repeated, not as duplicate, if it has the id of its own task",
    async run({ store }) {
      await store.commit([createOf(taskId(1), idempotent(START))]);
      assert.deepEqual(await store.commit([createOf(taskId(1), idempotent(START))]), [
        { status: "repeated", task: taskId(1) },
      ]);
      assert.deepEqual(await outcomes(store, createOf(taskId(1))), ["duplicate"]);
    },
  },
  {
    name: "creates another task for the same message id after the window, in another scope, and without idempotency",
    async run({ store }) {
      await store.commit([createOf(taskId(1), idempotent(START), { end: endOf(2) })]);
      const bob = { ...SCOPE, owner: "bob" };
      for (const create of [
        createOf(taskId(2), { ...idempotent(START + 1, "second"), at: START + 1 }),
        createOf(taskId(3), { ...idempotent(START), scope: bob }),
        createOf(taskId(4), { messageId: "m", at: START + 2 }),
        createOf(taskId(5), { idempotency: { since: 0, digest: "x" } }),
        createOf(taskId(6), { idempotency: { since: 0, digest: "x" } }),
        createOf(taskId(7), { messageId: "n", idempotency: { since: 0, digest: "x" } }),
      ])
        assert.deepEqual(await outcomes(store, create), ["ok"]);
      // The latest task has no digest; it is found all the same.
      assert.deepEqual(await store.findByMessage(SCOPE, "m"), { task: taskId(4), createdAt: START + 2 });
      assert.deepEqual(await store.findByMessage(bob, "m"), { task: taskId(3), createdAt: START, digest: "d" });
      assert.deepEqual(await store.commit([createOf(taskId(8), idempotent(START))]), [
        { status: "repeated", task: taskId(4) },
      ]);
    },
  },
  {
    name: "applies the idempotency window to creation times, even if the clock went back",
    async run({ store }) {
      await store.commit([createOf(taskId(1), { ...idempotent(START), at: START + 100 })]);
      await store.commit([createOf(taskId(2), { messageId: "m", at: START + 10 })]);
      assert.deepEqual(await store.commit([createOf(taskId(3), idempotent(START + 50))]), [
        { status: "repeated", task: taskId(1) },
      ]);
      assert.equal((await store.findByMessage(SCOPE, "m"))?.task, taskId(2));
    },
  },
  {
    name: "forgets a message when it deletes the task, and then finds the earlier task of the message",
    async run({ open, clock }) {
      const store = await open({ maxAge: 100 });
      await store.commit([createOf(taskId(1), idempotent(START))]);
      await store.commit([
        createOf(taskId(2), { ...idempotent(START + 1, "second"), at: START + 1 }, { end: endOf(2) }),
      ]);
      clock.now = START + 101;
      assert.equal(await store.sweep(), 1);
      assert.deepEqual(await store.findByMessage(SCOPE, "m"), { task: taskId(1), createdAt: START, digest: "d" });
      assert.deepEqual(await outcomes(store, createOf(taskId(3), { ...idempotent(START + 1), at: START + 1 })), ["ok"]);
    },
  },
  {
    name: "deletes no task for a repeated message when the store is full",
    async run({ open, settle }) {
      const store = await open({ maxTasks: 2, pruneCount: 2 });
      const webhook = webhookOf("w");
      await store.commit([createOf(taskId(1), idempotent(START), { end: endOf(2) }), createOf(taskId(2), {})]);
      await settle();
      assert.deepEqual(await outcomes(store, createOf(taskId(3), { ...idempotent(START), webhook })), ["repeated"]);
      assert.equal((await store.positions([taskId(1), taskId(2)])).length, 2);
      assert.deepEqual(await unclaimedWebhooks(store), []);
    },
  },
];
