import assert from "node:assert/strict";
import type { TaskId } from "../../protocol/ids.ts";
import type { Store } from "../../store/contract.ts";
import {
  advanceOf,
  chunkEntry,
  claimQuery,
  claimWebhookOf,
  createOf,
  endOf,
  NODE,
  reviveOf,
  SCOPE,
  START,
  setWebhookOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { outcomes, unclaimedWebhooks, webhookIn, webhookKeys, webhookStates } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const LEASE = 10_000;

async function claim(store: Store, id: string, task: TaskId = T): Promise<number> {
  const [outcome] = await store.commit([claimWebhookOf(task, id)]);
  assert(outcome?.status === "ok" && outcome.epoch !== undefined, `${id}: ${outcome?.status}`);
  return outcome.epoch;
}

/** Webhooks are claimed, advanced, suspended, revived and found. */
export const storeDeliveryCases: readonly StoreCase[] = [
  {
    name: "lets one living node at a time claim a webhook, each time at a higher epoch",
    async run({ store, clock }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      const before = (await webhookIn(store, "w")).epoch;
      const first = await claim(store, "w");
      assert(first > before);
      assert.deepEqual(await store.commit([claimWebhookOf(T, "w", "node-2"), claimWebhookOf(T, "w")]), [
        { status: "held", node: NODE },
        { status: "held", node: NODE },
      ]);
      assert.equal((await webhookIn(store, "w")).node, NODE);
      clock.now += LEASE;
      const [taken] = await store.commit([claimWebhookOf(T, "w", "node-2")]);
      assert(taken?.status === "ok" && (taken.epoch ?? 0) > first);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch: first })), ["fenced"]);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch: taken.epoch ?? 0 })), ["ok"]);
      assert.deepEqual(await outcomes(store, claimWebhookOf(T, "x"), claimWebhookOf(taskId(9), "w")), [
        "not-found",
        "not-found",
      ]);
    },
  },
  {
    name: "releases all webhooks of a node as soon as the node leaves, and none of other nodes",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") }), setWebhookOf(T, "v")]);
      await store.commit([claimWebhookOf(T, "w"), claimWebhookOf(T, "v", "node-2")]);
      assert.deepEqual(await unclaimedWebhooks(store), []);
      await store.leave(NODE);
      assert.deepEqual(await unclaimedWebhooks(store), ["1/w"]);
      await store.heartbeat(NODE, LEASE);
      assert.deepEqual(await outcomes(store, claimWebhookOf(T, "w", "node-2"), claimWebhookOf(T, "v")), ["ok", "held"]);
    },
  },
  {
    name: "claims active webhooks that no living node has, earliest due time first, up to the limit",
    async run({ store, clock }) {
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", 2 * LEASE);
      await store.heartbeat("node-3", 9 * LEASE);
      const times = [0, 50, 10, 30, 20, 25, 0, 15];
      for (const [n, when] of times.entries())
        if (n > 0) await store.commit([createOf(taskId(n), { webhook: webhookOf("w", { at: START + when }) })]);
      const sixth = await claim(store, "w", taskId(6));
      await store.commit([
        claimWebhookOf(taskId(7), "w", "node-2"),
        claimWebhookOf(taskId(3), "w", "gone-1"),
        claimWebhookOf(taskId(4), "w", "gone-2"),
      ]);
      assert.deepEqual(await unclaimedWebhooks(store), ["2/w", "4/w", "5/w", "3/w", "1/w"]);
      assert.deepEqual(await unclaimedWebhooks(store, 2), ["2/w", "4/w"]);
      await store.commit([advanceOf(taskId(6), "w", { epoch: sixth, nextAt: START + 12.4 })]);
      clock.now += LEASE;
      assert.deepEqual(await unclaimedWebhooks(store), ["2/w", "6/w", "4/w", "5/w", "3/w", "1/w"]);
      clock.now += LEASE;
      const claimed = await store.claimWebhooks(claimQuery("node-3", { limit: 3 }));
      assert.deepEqual(webhookKeys(claimed.map(({ webhook }) => webhook)), ["2/w", "6/w", "7/w"]);
      assert.deepEqual(await unclaimedWebhooks(store), ["4/w", "5/w", "3/w", "1/w"]);
    },
  },
  {
    name: "returns claimed webhooks with the node, a higher epoch and the scope of their task, and fences the former claimant",
    async run({ store }) {
      await store.heartbeat("node-2", LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") }), setWebhookOf(T, "idle"), setWebhookOf(T, "bad")]);
      const former = await claim(store, "w");
      await store.commit([writeOf(T, { end: endOf(2) })]);
      await store.commit([
        advanceOf(T, "idle", { epoch: await claim(store, "idle"), cursor: 2, state: "idle" }),
        advanceOf(T, "bad", { epoch: await claim(store, "bad"), state: "suspended" }),
      ]);
      const claimed = await store.claimWebhooks(claimQuery("node-2"));
      const webhook = await webhookIn(store, "w");
      assert.deepEqual(claimed, [{ webhook, scope: SCOPE }]);
      assert.equal(webhook.node, "node-2");
      assert(webhook.epoch > former);
      assert.deepEqual(
        await outcomes(
          store,
          advanceOf(T, "w", { epoch: former }),
          advanceOf(T, "w", { epoch: webhook.epoch }),
          claimWebhookOf(T, "w"),
        ),
        ["fenced", "ok", "held"],
      );
      assert.deepEqual(await store.claimWebhooks(claimQuery("node-2")), []);
    },
  },
  {
    name: "claims only webhooks of tasks of the node's agents",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      for (const [index, agent] of ["a", "b", "c"].entries()) {
        const scope = { ...SCOPE, agent };
        await store.commit([createOf(taskId(index), { scope, webhook: webhookOf("w", { at: START + index }) })]);
      }
      const claimed = async (...agents: readonly string[]): Promise<string[]> =>
        webhookKeys((await store.claimWebhooks(claimQuery(NODE, { agents }))).map(({ webhook }) => webhook));
      assert.deepEqual(await claimed(), []);
      assert.deepEqual(await claimed("unknown"), []);
      assert.deepEqual(await claimed("c", "a"), ["0/w", "2/w"]);
      assert.equal((await webhookIn(store, "w", taskId(1))).node, undefined);
      assert.deepEqual(await claimed("a", "b", "c"), ["1/w"]);
    },
  },
  {
    name: "advances the cursor of a webhook without releasing its claim",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      const epoch = await claim(store, "w");
      const progress = { cursor: 1, attempts: 2, nextAt: START + 70 };
      const advance = advanceOf(T, "w", { epoch, ...progress, failure: "timed out" });
      assert.deepEqual(await outcomes(store, advance, advanceOf(T, "v", { epoch })), ["ok", "not-found"]);
      assert.deepEqual(await webhookIn(store, "w"), {
        ...webhookOf("w"),
        task: T,
        state: "active",
        ...progress,
        failure: "timed out",
        epoch,
        node: NODE,
      });
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch, cursor: 1 })), ["ok"]);
      assert.equal((await webhookIn(store, "w")).failure, undefined);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch: epoch - 1 })), ["fenced"]);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch: epoch + 1 })), ["fenced"]);
    },
  },
  {
    name: "makes a webhook idle only when the task has ended and every event was delivered; until then it stays active at its new cursor",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      await store.commit([writeOf(T, { entries: [chunkEntry(2, "a", false)] })]);
      const epoch = await claim(store, "w");
      const idle = (cursor: number): ReturnType<typeof advanceOf> =>
        advanceOf(T, "w", { epoch, cursor, state: "idle" });
      assert.deepEqual(await outcomes(store, idle(2)), ["inbox"]);
      assert.deepEqual(await webhookStates(store), ["w active 2"]);
      assert.equal((await webhookIn(store, "w")).node, NODE);
      assert.deepEqual(await outcomes(store, writeOf(T, { end: endOf(3) }), idle(2)), ["ok", "inbox"]);
      assert.deepEqual(await outcomes(store, idle(3), idle(3), claimWebhookOf(T, "w")), ["ok", "fenced", "not-found"]);
      assert.deepEqual(await webhookStates(store), ["w idle 3"]);
      assert.equal((await webhookIn(store, "w")).node, undefined);
      await store.leave(NODE);
      assert.deepEqual(await unclaimedWebhooks(store), []);
      assert.deepEqual(await store.failedWebhooks({ limit: 9 }), []);
    },
  },
  {
    name: "suspends a webhook with the reason of the failure, and revives it once, from its cursor",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") }), setWebhookOf(T, "v")]);
      await store.commit([writeOf(T, { entries: [statusEntry(2)] })]);
      for (const [id, state] of [
        ["w", "suspended"],
        ["v", "removed"],
      ] as const) {
        const epoch = await claim(store, id);
        const failed = { cursor: 1, attempts: 4, nextAt: START + 5, failure: "410", failedAt: START + 5 };
        assert.deepEqual(await outcomes(store, advanceOf(T, id, { epoch, state, ...failed })), ["ok"]);
        const record = await webhookIn(store, id);
        assert.deepEqual(record, { ...webhookOf(id), task: T, state, ...failed, epoch });
        assert.deepEqual(await outcomes(store, advanceOf(T, id, { epoch }), claimWebhookOf(T, id)), [
          "fenced",
          "not-found",
        ]);
        assert.deepEqual(await outcomes(store, reviveOf(T, id, START + 8), reviveOf(T, id)), ["ok", "not-found"]);
        const { epoch: next, ...revived } = await webhookIn(store, id);
        const expected = { ...webhookOf(id), task: T, state: "active", cursor: 1, attempts: 0, nextAt: START + 8 };
        assert.deepEqual(revived, expected);
        assert(next > epoch);
        assert.deepEqual(await outcomes(store, advanceOf(T, id, { epoch })), ["fenced"]);
      }
      assert.deepEqual(await outcomes(store, reviveOf(T, "x"), reviveOf(taskId(9), "w")), ["not-found", "not-found"]);
      assert.deepEqual((await unclaimedWebhooks(store)).sort(), ["1/v", "1/w"]);
    },
  },
  {
    name: "revives a webhook of an ended task, unless every event was delivered",
    async run({ store }) {
      await store.commit([createOf(T, { webhook: webhookOf("w") }, { end: endOf(2) }), setWebhookOf(T, "done")]);
      const done = await claim(store, "done");
      const epoch = await claim(store, "w");
      await store.commit([
        advanceOf(T, "done", { epoch: done, cursor: 2, state: "idle" }),
        advanceOf(T, "w", { epoch, cursor: 0, state: "suspended" }),
      ]);
      assert.equal((await webhookIn(store, "w")).failedAt, START);
      assert.deepEqual(await outcomes(store, reviveOf(T, "w"), reviveOf(T, "done")), ["ok", "not-found"]);
      assert.deepEqual(await webhookStates(store), ["w active 0", "done idle 2"]);
    },
  },
  {
    name: "lists failed webhooks, newest failure first, in pages that neither skip nor repeat a webhook",
    async run({ store }) {
      const times = [10, 30, 20, 20, 20, 30];
      for (const [index, at] of times.entries()) {
        const task = taskId(index + 1);
        await store.commit([createOf(task, { webhook: webhookOf("b") }), setWebhookOf(task, "a")]);
        const state = index % 2 === 0 ? "suspended" : "removed";
        for (const id of index === 3 ? ["b", "a"] : ["b"]) {
          const epoch = await claim(store, id, task);
          await store.commit([advanceOf(task, id, { epoch, state, failure: "no", failedAt: START + at })]);
        }
      }
      const all = ["2/b", "6/b", "3/b", "4/a", "4/b", "5/b", "1/b"];
      assert.deepEqual(webhookKeys(await store.failedWebhooks({ limit: 99 })), all);
      assert.deepEqual(webhookKeys(await store.failedWebhooks({ limit: 2 })), all.slice(0, 2));
      assert.deepEqual(webhookKeys(await store.failedWebhooks({ limit: 9, before: START + 20 })), ["1/b"]);
      assert.deepEqual(webhookKeys(await store.failedWebhooks({ limit: 9, task: taskId(4) })), ["4/a", "4/b"]);
      assert.deepEqual(webhookKeys(await store.failedWebhooks({ limit: 1, task: taskId(4) })), ["4/a"]);
      assert.deepEqual(await store.failedWebhooks({ limit: 9, task: taskId(99) }), []);
      for (const limit of [1, 2, 3]) {
        const pages: string[] = [];
        let page = await store.failedWebhooks({ limit });
        for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
          pages.push(...webhookKeys(page));
          page = await store.failedWebhooks({ limit, before: last.failedAt ?? 0, beyond: last });
        }
        assert.deepEqual(pages, all);
      }
      const [newest] = await store.failedWebhooks({ limit: 1 });
      assert.deepEqual(newest, await webhookIn(store, "b", taskId(2)));
    },
  },
];
