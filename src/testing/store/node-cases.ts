import assert from "node:assert/strict";
import type { NodeClaims } from "../../store/contract.ts";
import {
  advanceOf,
  claimOf,
  claimQuery,
  claimWebhookOf,
  createOf,
  endOf,
  NODE,
  postOf,
  setWebhookOf,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { webhookIn } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const LEASE = 10_000;

/** `task/epoch` of each task and `task/webhook/epoch` of each webhook, sorted. */
function claimKeys({ tasks, webhooks }: NodeClaims): string[] {
  const numberOf = (task: string): number => Number(task.slice(5));
  return [
    ...tasks.map(({ id, epoch }) => `${numberOf(id)}/${epoch}`),
    ...webhooks.map(({ task, id, epoch }) => `${numberOf(task)}/${id}/${epoch}`),
  ].sort();
}

/** `Store.waitingEntries` and `Store.claimsOf`. */
export const nodeCases: readonly StoreCase[] = [
  {
    name: "returns the ids of all inbox entries of the tasks whose lease the node has",
    async run({ store }) {
      const waiting = async (node: string): Promise<string[]> =>
        (await store.waitingEntries(node)).map(({ task, id }) => `${Number(task.slice(5))}/${id}`).sort();
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      assert.deepEqual(await waiting(NODE), []);
      await store.commit([
        createOf(T),
        createOf(taskId(2)),
        createOf(taskId(3), { node: "node-2" }),
        createOf(taskId(4)),
      ]);
      await store.commit([
        postOf(T, { id: "a" }),
        postOf(T, { id: "b", sealed: true }),
        postOf(taskId(2), { id: "a", kind: "cancel" }),
        postOf(taskId(3), { id: "c" }),
      ]);
      assert.deepEqual(await waiting(NODE), ["1/a", "1/b", "2/a"]);
      assert.deepEqual(await waiting("node-2"), ["3/c"]);
      assert.deepEqual(await waiting("node-3"), []);
      const [entry] = await store.waitingEntries("node-2");
      assert.deepEqual(entry, { task: taskId(3), id: "c" });
      await store.commit([writeOf(T, { taken: ["a"] }), claimOf(taskId(2), "node-2", true)]);
      assert.deepEqual(await waiting(NODE), ["1/b"]);
      assert.deepEqual(await waiting("node-2"), ["2/a", "3/c"]);
      await store.commit([writeOf(T, { release: true }), writeOf(taskId(3), { end: endOf(2) })]);
      assert.deepEqual(await waiting(NODE), []);
      assert.deepEqual(await waiting("node-2"), ["2/a"]);
      await store.leave("node-2");
      assert.deepEqual(await waiting("node-2"), []);
    },
  },
  {
    name: "returns the tasks and webhooks that a node has claimed, with their epochs",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      assert.deepEqual(await store.claimsOf(NODE), { tasks: [], webhooks: [] });
      await store.commit([createOf(T, { webhook: webhookOf("w") }), setWebhookOf(T, "v")]);
      await store.commit([createOf(taskId(2), { node: "node-2" })]);
      await store.commit([claimWebhookOf(T, "w")]);
      const { epoch } = await webhookIn(store, "w");
      assert.deepEqual(claimKeys(await store.claimsOf(NODE)), ["1/1", `1/w/${epoch}`]);
      assert.deepEqual(claimKeys(await store.claimsOf("node-2")), ["2/1"]);
      await store.commit([claimOf(T, "node-2", true)]);
      assert.deepEqual(claimKeys(await store.claimsOf(NODE)), [`1/w/${epoch}`]);
      assert.deepEqual(claimKeys(await store.claimsOf("node-2")), ["1/2", "2/1"]);
      await store.commit([
        writeOf(T, { epoch: 2, end: endOf(2) }),
        advanceOf(T, "w", { epoch, cursor: 2, state: "idle" }),
        writeOf(taskId(2), { release: true }),
      ]);
      assert.deepEqual(claimKeys(await store.claimsOf(NODE)), []);
      assert.deepEqual(claimKeys(await store.claimsOf("node-2")), []);
    },
  },
  {
    name: "returns the claims of claimDue and claimWebhooks, until the node leaves",
    async run({ store }) {
      await store.heartbeat("node-2", LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      await store.claimDue(claimQuery("node-2"));
      const [claimed] = await store.claimWebhooks(claimQuery("node-2"));
      assert.deepEqual(claimKeys(await store.claimsOf("node-2")), ["1/2", `1/w/${claimed?.webhook.epoch}`]);
      await store.leave("node-2");
      assert.deepEqual(claimKeys(await store.claimsOf("node-2")), []);
    },
  },
];
