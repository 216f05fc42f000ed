import assert from "node:assert/strict";
import type { StoreOperation } from "../../store/contract.ts";
import {
  advanceOf,
  chunkEntry,
  claimWebhookOf,
  createOf,
  deleteWebhookOf,
  endOf,
  headOf,
  NODE,
  SCOPE,
  START,
  setWebhookOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { outcomes, unclaimedWebhooks, webhookIn, webhookStates } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

/** Webhooks are set, replaced, deleted, and deleted with their tasks. */
export const storeWebhookCases: readonly StoreCase[] = [
  {
    name: "stores the webhook that a task is created with, with its cursor before the first event",
    async run({ store }) {
      const webhook = webhookOf("w", { unnamed: true, at: START + 3, body: "se\u0000aled", dialect: "another" });
      assert.deepEqual(await outcomes(store, createOf(T, { webhook }), createOf(taskId(2))), ["ok", "ok"]);
      const [record, ...others] = await store.webhooks(T);
      assert(record !== undefined);
      const { epoch, ...rest } = record;
      const expected = { ...webhook, task: T, state: "active", cursor: 0, attempts: 0, nextAt: START + 3 };
      assert.deepEqual(rest, expected);
      assert(epoch > 0);
      assert.deepEqual(others, []);
      assert.deepEqual(await store.webhooks(taskId(2)), []);
      assert.deepEqual(await store.webhooks(taskId(9)), []);
    },
  },
  {
    name: "stores the webhook of a task that ends in its first commit, and no webhook of a refused create",
    async run({ store }) {
      const webhook = webhookOf("w");
      assert.deepEqual(
        await outcomes(
          store,
          createOf(T, { webhook }, { end: endOf(2, { artifacts: "[]" }), history: [{ after: 0, body: "{}" }] }),
          createOf(T, { webhook: webhookOf("v") }),
          createOf(taskId(2), { webhook }, { epoch: 2 }),
          createOf(taskId(3), { webhook }, { end: endOf(2) }),
        ),
        ["ok", "duplicate", "fenced", "ok"],
      );
      assert.deepEqual(await webhookStates(store), ["w active 0"]);
      assert.deepEqual(await webhookStates(store, taskId(2)), []);
      assert.deepEqual(await webhookStates(store, taskId(3)), ["w active 0"]);
      assert.equal((await store.get(T, { artifacts: false }))?.history.length, 1);
    },
  },
  {
    name: "starts a new webhook after the latest event, chunks included; for an ended task before the last event",
    async run({ store }) {
      await store.commit([createOf(T), createOf(taskId(2), {}, { end: endOf(2) })]);
      await store.commit([writeOf(T, { entries: [chunkEntry(2, "a", false), chunkEntry(3, "b")] })]);
      await store.commit([setWebhookOf(T, "mid"), setWebhookOf(taskId(2), "late")]);
      assert.deepEqual(await webhookStates(store), ["mid active 3"]);
      assert.deepEqual(await webhookStates(store, taskId(2)), ["late active 1"]);
      assert.deepEqual(
        await outcomes(
          store,
          writeOf(T, { entries: [chunkEntry(4, "c")] }),
          setWebhookOf(T, "same-batch"),
          writeOf(T, { entries: [chunkEntry(5, "d")], end: endOf(6) }),
          setWebhookOf(T, "end"),
        ),
        ["ok", "ok", "ok", "ok"],
      );
      assert.deepEqual(await webhookStates(store), ["mid active 3", "same-batch active 4", "end active 5"]);
    },
  },
  {
    name: "replaces an active webhook without losing pending events, releases its claim, and fences the earlier claimant",
    async run({ store }) {
      await store.heartbeat(NODE, 1000);
      await store.commit([createOf(T, { webhook: webhookOf("w") }), setWebhookOf(T, "other")]);
      const [claimed] = await store.commit([claimWebhookOf(T, "w")]);
      const epoch = claimed?.status === "ok" ? (claimed.epoch ?? 0) : 0;
      await store.commit([writeOf(T, { entries: [chunkEntry(2, "a", false), chunkEntry(3, "b")] })]);
      await store.commit([advanceOf(T, "w", { epoch, cursor: 2, attempts: 2, nextAt: START + 9, failure: "f" })]);
      const webhook = webhookOf("w", { body: "new", dialect: "other", unnamed: true, at: START + 5 });
      assert.deepEqual(await outcomes(store, setWebhookOf(T, "w", { webhook })), ["ok"]);
      const { epoch: next, ...record } = await webhookIn(store, "w");
      const expected = { ...webhook, task: T, state: "active", cursor: 2, attempts: 0, nextAt: START + 5 };
      assert.deepEqual(record, expected);
      assert(next > epoch);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch, cursor: 3 })), ["fenced"]);
      assert.deepEqual(await webhookStates(store), ["w active 2", "other active 1"]);
    },
  },
  {
    name: "restarts a removed or idle webhook that is set again; a suspended one continues from its cursor",
    async run({ store }) {
      const ids = ["idle", "suspended", "removed"] as const;
      await store.commit([createOf(T), ...ids.map((id) => setWebhookOf(T, id))]);
      await store.commit([writeOf(T, { entries: [chunkEntry(2, "a", false)], end: endOf(3) })]);
      for (const id of ids) {
        const { epoch } = await webhookIn(store, id);
        const cursor = id === "idle" ? 3 : 1;
        const failure = id === "idle" ? {} : { failure: "gone", failedAt: START + 1 };
        assert.deepEqual(await outcomes(store, advanceOf(T, id, { epoch, cursor, state: id, ...failure })), ["ok"]);
      }
      assert.deepEqual(await webhookStates(store), ["idle idle 3", "suspended suspended 1", "removed removed 1"]);
      await store.commit(ids.map((id) => setWebhookOf(T, id)));
      assert.deepEqual(await webhookStates(store), ["idle active 2", "suspended active 1", "removed active 2"]);
      assert.equal((await webhookIn(store, "removed")).failure, undefined);
      assert.equal((await webhookIn(store, "removed")).failedAt, undefined);
      assert.deepEqual(await store.failedWebhooks({ limit: 9 }), []);
    },
  },
  {
    name: "limits the webhooks of a task to maxPerTask, without counting removed ones",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const set = (id: string): ReturnType<typeof setWebhookOf> => setWebhookOf(T, id, { maxPerTask: 2 });
      assert.deepEqual(await outcomes(store, set("a"), set("b"), set("c"), set("a")), ["ok", "ok", "full", "ok"]);
      const { epoch } = await webhookIn(store, "a");
      await store.commit([advanceOf(T, "a", { epoch, state: "removed" })]);
      assert.deepEqual(await outcomes(store, set("c"), set("a"), set("d")), ["ok", "full", "full"]);
      await store.commit([deleteWebhookOf(T, "b")]);
      assert.deepEqual(await outcomes(store, set("a"), set("b")), ["ok", "full"]);
      const nothing = setWebhookOf(taskId(2), "x", { maxPerTask: 0 });
      assert.deepEqual(await outcomes(store, createOf(taskId(2)), nothing), ["ok", "full"]);
    },
  },
  {
    name: "keeps the latest maxPerTask removed webhooks of a task, even if one webhook replaces all others",
    async run({ store }) {
      await store.commit([createOf(T)]);
      for (const id of ["a", "b", "c", "d"]) {
        await store.commit([setWebhookOf(T, id, { maxPerTask: 2, only: id === "d" })]);
        const { epoch } = await webhookIn(store, id);
        await store.commit([advanceOf(T, id, { epoch, state: "removed", failure: id })]);
      }
      await store.commit([setWebhookOf(T, "e", { maxPerTask: 2, only: true })]);
      assert.deepEqual(await webhookStates(store), ["c removed 1", "d removed 1", "e active 1"]);
      assert.equal((await store.failedWebhooks({ limit: 9 })).length, 2);
    },
  },
  {
    name: "lets one webhook replace all others of its dialect, and counts only those of other dialects towards maxPerTask",
    async run({ store }) {
      await store.commit([createOf(T), createOf(taskId(2), { webhook: webhookOf("elsewhere") })]);
      await store.commit([setWebhookOf(T, "a"), setWebhookOf(T, "b")]);
      const foreign = { ...webhookOf("foreign"), dialect: "another" };
      await store.commit([setWebhookOf(T, "foreign", { webhook: foreign })]);
      assert.deepEqual(await outcomes(store, setWebhookOf(T, "c", { only: true, maxPerTask: 1 })), ["full"]);
      assert.deepEqual(await outcomes(store, setWebhookOf(T, "c", { only: true, maxPerTask: 2 })), ["ok"]);
      assert.deepEqual(await webhookStates(store), ["foreign active 1", "c active 1"]);
      await store.commit([deleteWebhookOf(T, "foreign")]);
      const only = { only: true, maxPerTask: 1 };
      assert.deepEqual(await outcomes(store, setWebhookOf(T, "c", only)), ["ok"]);
      assert.deepEqual(await webhookStates(store), ["c active 1"]);
      await store.commit([writeOf(T, { entries: [statusEntry(2)] }), setWebhookOf(T, "c", only)]);
      assert.deepEqual(await webhookStates(store), ["c active 1"]);
      assert.deepEqual(await webhookStates(store, taskId(2)), ["elsewhere active 0"]);
      assert.deepEqual((await unclaimedWebhooks(store)).sort(), ["1/c", "2/elsewhere"]);
    },
  },
  {
    name: "starts a webhook that replaces others at the earliest cursor among the replaced ones",
    async run({ store }) {
      await store.commit([createOf(T, { webhook: webhookOf("a") }), setWebhookOf(T, "b")]);
      const { epoch } = await webhookIn(store, "b");
      await store.commit([writeOf(T, { entries: [statusEntry(2)] })]);
      await store.commit([advanceOf(T, "b", { epoch, cursor: 2 }), setWebhookOf(T, "c", { only: true })]);
      assert.deepEqual(await webhookStates(store), ["c active 0"]);
    },
  },
  {
    name: "sets no webhook for a task of another scope or a missing task",
    async run({ store }) {
      const strange = { ...SCOPE, owner: "nobody-yet" };
      assert.deepEqual(
        await outcomes(
          store,
          createOf(T),
          createOf(taskId(2), { scope: { ...SCOPE, owner: "bob" } }),
          setWebhookOf(taskId(2), "w"),
          setWebhookOf(T, "w", { scope: { ...SCOPE, tenant: "t" } }),
          setWebhookOf(T, "w", { scope: strange }),
          setWebhookOf(taskId(9), "w"),
          createOf(taskId(3), { scope: { ...SCOPE, agent: "new" } }),
          setWebhookOf(taskId(3), "w", { scope: { ...SCOPE, agent: "new" } }),
        ),
        ["ok", "ok", "not-found", "not-found", "not-found", "not-found", "ok", "ok"],
      );
      assert.deepEqual(await webhookStates(store), []);
      assert.deepEqual(await outcomes(store, setWebhookOf(T, "w", { scope: strange })), ["not-found"]);
    },
  },
  {
    name: "deletes a webhook of a running or ended task once, and fences its old epoch if the webhook is created again",
    async run({ store }) {
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      const [claimed] = await store.commit([claimWebhookOf(T, "w")]);
      const epoch = claimed?.status === "ok" ? (claimed.epoch ?? 0) : 0;
      assert.deepEqual(
        await outcomes(store, deleteWebhookOf(T, "w"), deleteWebhookOf(T, "w"), deleteWebhookOf(taskId(9), "w")),
        ["ok", "not-found", "not-found"],
      );
      assert.deepEqual(await store.webhooks(T), []);
      assert.deepEqual(await outcomes(store, advanceOf(T, "w", { epoch })), ["not-found"]);
      const again = [setWebhookOf(T, "w"), claimWebhookOf(T, "w"), advanceOf(T, "w", { epoch, cursor: 9 })];
      assert.deepEqual(await outcomes(store, ...again), ["ok", "ok", "fenced"]);
      await store.commit([writeOf(T, { end: endOf(2) })]);
      assert.deepEqual(await outcomes(store, deleteWebhookOf(T, "w")), ["ok"]);
      assert.deepEqual(await unclaimedWebhooks(store), []);
    },
  },
  {
    name: "deletes no finished task with pending deliveries to make room for a new task",
    async run({ open, settle }) {
      const store = await open({ maxTasks: 2, pruneCount: 2 });
      /** The outcome of each operation in a commit of its own. */
      const each = async (...operations: readonly StoreOperation[]): Promise<string[]> => {
        const found: string[] = [];
        for (const operation of operations) {
          await settle();
          found.push(...(await outcomes(store, operation)));
        }
        return found;
      };
      const ended = (n: number): ReturnType<typeof createOf> =>
        createOf(
          taskId(n),
          { webhook: webhookOf("w") },
          { end: endOf(2, { head: headOf("completed", { statusAt: START + n }) }) },
        );
      assert.deepEqual(await each(ended(1), ended(2), ended(3), ended(3)), ["ok", "ok", "full", "full"]);
      const { epoch } = await webhookIn(store, "w", taskId(2));
      await store.commit([advanceOf(taskId(2), "w", { epoch, state: "suspended", cursor: 0, failure: "no" })]);
      assert.deepEqual(await each(ended(3), ended(4)), ["ok", "full"]);
      assert.equal((await store.positions([T, taskId(2), taskId(3)])).length, 2);
      assert.deepEqual(await store.failedWebhooks({ limit: 9 }), []);
      assert.deepEqual(await each(deleteWebhookOf(T, "w"), ended(4)), ["ok", "ok"]);
      assert.deepEqual(await each(setWebhookOf(taskId(3), "x", { only: true }), ended(5)), ["ok", "full"]);
      assert.deepEqual(await store.webhooks(T), []);
      // A new task with the same id has none of the webhooks of the deleted task.
      const idle = await webhookIn(store, "x", taskId(3));
      await store.commit([advanceOf(taskId(3), "x", { epoch: idle.epoch, cursor: 2, state: "idle" })]);
      assert.deepEqual(await each(createOf(T)), ["ok"]);
      assert.deepEqual(await store.webhooks(T), []);
      assert.deepEqual(await store.webhooks(taskId(3)), []);
    },
  },
  {
    name: "sweeps neither a task nor its events while deliveries to a webhook are pending, and both afterwards",
    async run({ open, clock }) {
      const store = await open({ maxAge: 100, logAge: 10 });
      await store.commit([
        createOf(T, { webhook: webhookOf("w") }, { end: endOf(2) }),
        createOf(taskId(2), {}, { end: endOf(2) }),
      ]);
      assert.deepEqual(await outcomes(store, setWebhookOf(taskId(2), "late")), ["ok"]);
      clock.now = START + 500;
      assert.equal(await store.sweep(), 0);
      assert.equal((await store.log(T, 0, 1e6)).length, 2);
      assert.equal((await store.log(taskId(2), 1, 1e6)).length, 1);
      for (const [task, id] of [
        [T, "w"],
        [taskId(2), "late"],
      ] as const) {
        const { epoch } = await webhookIn(store, id, task);
        assert.deepEqual(await outcomes(store, advanceOf(task, id, { epoch, cursor: 2, state: "idle" })), ["ok"]);
      }
      clock.now = START + 50;
      assert.equal(await store.sweep(), 2);
      assert.deepEqual(await store.log(T, 0, 1e6), []);
      assert.deepEqual(await webhookStates(store), ["w idle 2"]);
      clock.now = START + 500;
      assert.equal(await store.sweep(), 2);
      assert.deepEqual(await store.webhooks(T), []);
      assert.deepEqual(await store.webhooks(taskId(2)), []);
    },
  },
];
