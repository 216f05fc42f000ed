import assert from "node:assert/strict";
import type { DueTasks, TaskHead, WaitingEntry } from "../../store/contract.ts";
import {
  claimOf,
  claimQuery,
  createOf,
  endOf,
  headOf,
  NODE,
  postOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { outcomes, recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);
const LEASE = 10_000;
const WAITING = headOf("input-required", { active: false });

function wakesAt(wakeAt: number): TaskHead {
  return headOf("working", { active: false, wakeAt });
}

function idsOf({ tasks }: DueTasks): string[] {
  return tasks.map(({ id }) => id);
}

/** `Store.claimDue`. */
export const claimCases: readonly StoreCase[] = [
  {
    name: "claims the due tasks: active, with a message or a cancel request, or past their wake time; oldest first",
    async run({ store, clock }) {
      await store.heartbeat("node-2", LEASE);
      const heads = [headOf("working"), WAITING, wakesAt(START + 50), WAITING, WAITING, headOf("submitted")];
      // The ids do not have the order of creation.
      const ids = [8, 3, 4, 5, 6, 7].map(taskId);
      for (const [index, head] of heads.entries())
        await store.commit([createOf(ids[index] ?? T, { at: START - 100 + index }, { head })]);
      await store.commit([createOf(taskId(9), { at: START - 50 }, { end: endOf(2) })]);
      await store.commit([postOf(taskId(5), { id: "m" }), postOf(taskId(6), { id: "c", kind: "cancel" })]);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), [8, 5, 6, 7].map(taskId));
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), []);
      clock.now += 49;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), []);
      clock.now += 1;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), [taskId(4)]);
      assert.equal((await recordOf(store, taskId(3))).epoch, 1);
    },
  },
  {
    name: "returns scope, head, seq and the new epoch of a claimed task, and fences its former holder",
    async run({ store }) {
      await store.heartbeat("node-2", LEASE);
      const head = headOf("working", { runner: '{"attempt":2}', metadata: "{}", wakeAt: START + 9 });
      await store.commit([createOf(T, {}, { head, entries: [statusEntry(1), statusEntry(2)] })]);
      await store.commit([claimOf(T, NODE, true)]);
      const { tasks } = await store.claimDue(claimQuery("node-2"));
      assert.deepEqual(tasks, [{ id: T, scope: SCOPE, epoch: 3, formerNode: NODE, head, seq: 2 }]);
      const { epoch, node } = await recordOf(store);
      assert.deepEqual([epoch, node], [3, "node-2"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 2, entries: [statusEntry(3)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 3, entries: [statusEntry(3)] })), ["ok"]);
      assert.deepEqual(await store.commit([claimOf(T, NODE)]), [{ status: "held", node: "node-2" }]);
    },
  },
  {
    name: "claims at most limit tasks, and the oldest of them first",
    async run({ store }) {
      await store.heartbeat("node-2", LEASE);
      // The ids do not have the order of creation.
      const ids = [3, 1, 2, 5, 4].map(taskId);
      for (const [index, id] of ids.entries()) await store.commit([createOf(id, { at: START - 100 + index })]);
      const claim = async (): Promise<string[]> => idsOf(await store.claimDue(claimQuery("node-2", { limit: 2 })));
      assert.deepEqual(await claim(), ids.slice(0, 2));
      assert.deepEqual(await claim(), ids.slice(2, 4));
      assert.deepEqual(await claim(), ids.slice(4));
      assert.deepEqual(await claim(), []);
    },
  },
  {
    name: "gives nothing to a node that is not living, so that it does not claim its own tasks again",
    async run({ store, clock }) {
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T, { webhook: webhookOf("w") })]);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), []);
      clock.now += LEASE;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery(NODE))), []);
      assert.deepEqual(await store.claimWebhooks(claimQuery(NODE)), []);
      await store.heartbeat(NODE, LEASE);
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["ok"]);
    },
  },
  {
    name: "claims only tasks of the node's agents",
    async run({ store }) {
      await store.heartbeat("node-2", LEASE);
      for (const [index, agent] of ["a", "b", "c", "a"].entries())
        await store.commit([createOf(taskId(index), { scope: { ...SCOPE, agent }, at: START - 10 + index })]);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2", { agents: [] }))), []);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2", { agents: ["unknown"] }))), []);
      assert.deepEqual(
        idsOf(await store.claimDue(claimQuery("node-2", { agents: ["a", "c"] }))),
        [0, 2, 3].map(taskId),
      );
      const left = await recordOf(store, taskId(1));
      assert.deepEqual([left.epoch, left.node], [1, NODE]);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2", { agents: ["b"] }))), [taskId(1)]);
    },
  },
  {
    name: "claims no task whose lease a living node has, and each task of a node that stopped or left",
    async run({ store, clock }) {
      await store.heartbeat("node-2", 10 * LEASE);
      await store.heartbeat(NODE, LEASE);
      await store.commit([createOf(T), postOf(T, { id: "m" })]);
      clock.now += LEASE - 1;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), []);
      clock.now += 1;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery("node-2"))), [T]);
      await store.heartbeat(NODE, LEASE);
      assert.deepEqual(idsOf(await store.claimDue(claimQuery())), []);
      await store.leave("node-2");
      const { tasks } = await store.claimDue(claimQuery());
      assert.deepEqual(
        tasks.map(({ id, epoch }) => [id, epoch]),
        [[T, 3]],
      );
    },
  },
  {
    name: "names the former node of a claimed task if that node stopped, and none if the lease was released",
    async run({ store, clock }) {
      await store.heartbeat("gone", LEASE);
      await store.heartbeat("leaving", LEASE);
      await store.commit([createOf(taskId(1), { node: "gone" })]);
      await store.commit([createOf(taskId(2), { node: "leaving", at: START + 1 })]);
      await store.commit([createOf(taskId(3), { node: "gone", at: START + 2 }, { release: true })]);
      await store.leave("leaving");
      clock.now += LEASE;
      await store.heartbeat(NODE, LEASE);
      const { tasks } = await store.claimDue(claimQuery());
      assert.deepEqual(
        tasks.map((task) => [task.id, task.formerNode, "formerNode" in task]),
        [
          [taskId(1), "gone", true],
          [taskId(2), undefined, false],
          [taskId(3), undefined, false],
        ],
      );
    },
  },
  {
    name: "claims a released task again only when something happens to that task",
    async run({ store }) {
      await store.heartbeat(NODE, LEASE);
      const due = async (): Promise<string[]> => idsOf(await store.claimDue(claimQuery()));
      await store.commit([createOf(T)]);
      await store.commit([writeOf(T, { head: WAITING, entries: [statusEntry(2)], release: true })]);
      assert.deepEqual(await due(), []);
      await store.commit([postOf(T, { id: "m" })]);
      assert.deepEqual(await due(), [T]);
      await store.commit([writeOf(T, { epoch: 2, taken: ["m"], head: headOf("working"), release: true })]);
      assert.deepEqual(await due(), [T]);
      await store.commit([writeOf(T, { epoch: 3, head: WAITING, release: true })]);
      assert.deepEqual(await due(), []);
      await store.commit([claimOf(T, NODE), writeOf(T, { epoch: 4, end: endOf(3) })]);
      assert.deepEqual(await due(), []);
    },
  },
  {
    name: "returns the earliest wake time of the agents' tasks that no living node has after the call",
    async run({ store, clock }) {
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", 10 * LEASE);
      const next = async (): Promise<number | undefined> => (await store.claimDue(claimQuery("node-2"))).nextWake;
      const none = await store.claimDue(claimQuery("node-2"));
      assert.deepEqual([idsOf(none), none.nextWake], [[], undefined]);
      const foreign = { scope: { ...SCOPE, agent: "other" } };
      await store.commit([
        createOf(taskId(1), {}, { head: wakesAt(START + LEASE + 10) }),
        createOf(taskId(2), { node: "gone" }, { head: wakesAt(START + LEASE + 30) }),
        createOf(taskId(3), {}, { head: wakesAt(START + LEASE + 20), release: true }),
        createOf(taskId(4), {}, { head: WAITING, release: true }),
        createOf(taskId(5), foreign, { head: wakesAt(START + 1), release: true }),
        createOf(taskId(6), {}, { end: endOf(2, { head: headOf("failed", { wakeAt: START + 1 }) }) }),
      ]);
      assert.equal(await next(), START + LEASE + 20);
      clock.now += LEASE;
      assert.equal(await next(), START + LEASE + 10);
      await store.commit([claimOf(taskId(1), "node-2")]);
      assert.equal(await next(), START + LEASE + 20);
      clock.now += 20;
      assert.equal(await next(), START + LEASE + 30);
      clock.now += 10;
      assert.equal(await next(), undefined);
    },
  },
  {
    name: "returns a wake time that has passed if the limit left its task unclaimed",
    async run({ store, clock }) {
      await store.heartbeat(NODE, 10 * LEASE);
      for (const n of [1, 2, 3])
        await store.commit([createOf(taskId(n), { at: START + n }, { head: wakesAt(START + n), release: true })]);
      clock.now += 100;
      const first = await store.claimDue(claimQuery(NODE, { limit: 1 }));
      assert.deepEqual([idsOf(first), first.nextWake], [[taskId(1)], START + 2]);
      const rest = await store.claimDue(claimQuery());
      assert.deepEqual([idsOf(rest), rest.nextWake], [[2, 3].map(taskId), undefined]);
    },
  },
  {
    name: "returns the end of the earliest lease of another living node that has tasks, if it returns nextLapse",
    async run({ store, second, clock }) {
      const nextLapse = async (): Promise<number | undefined> => (await store.claimDue(claimQuery(NODE))).nextLapse;
      await store.heartbeat(NODE, 1000);
      // Absent in stores that leave it out: see `DueTasks.nextLapse`.
      const expectLapse = async (at: number | undefined): Promise<void> => {
        const found = await nextLapse();
        if (found !== undefined || at === undefined) assert.equal(found, at);
      };
      await expectLapse(undefined);
      await store.commit([
        createOf(T),
        createOf(taskId(2), { node: "node-2" }),
        createOf(taskId(3), { node: "node-3" }),
      ]);
      await second.heartbeat("node-2", 5000);
      await second.heartbeat("node-3", 3000);
      await second.heartbeat("node-4", 2000);
      // Neither its own lease nor that of a node without tasks.
      await expectLapse(START + 3000);
      await second.heartbeat("node-3", 9000);
      await expectLapse(START + 5000);
      await store.heartbeat(NODE, 20_000);
      clock.now += 5000;
      assert.deepEqual(idsOf(await store.claimDue(claimQuery(NODE))), [taskId(2)]);
      await expectLapse(START + 9000);
      await second.leave("node-3");
      await store.claimDue(claimQuery(NODE));
      await expectLapse(undefined);
    },
  },
  {
    name: "returns the inbox entries of the node's tasks as of before the claim, if it returns waiting",
    async run({ store, second }) {
      const keys = (entries: readonly WaitingEntry[]): string[] =>
        entries.map(({ task, id }) => `${task} ${id}`).sort();
      await store.heartbeat(NODE, LEASE);
      await store.heartbeat("node-2", LEASE);
      await store.commit([
        createOf(T),
        createOf(taskId(2), { node: "node-2" }),
        createOf(taskId(3), {}, { release: true }),
      ]);
      await second.commit([
        ...["a", "b"].map((id) => postOf(T, { id })),
        postOf(T, { id: "c", kind: "cancel" }),
        postOf(taskId(2), { id: "a" }),
        postOf(taskId(3), { id: "a" }),
      ]);
      for (const claimed of [[taskId(3)], []]) {
        const before = keys(await store.waitingEntries(NODE));
        const due = await store.claimDue(claimQuery(NODE));
        assert.deepEqual(idsOf(due), claimed);
        if (due.waiting !== undefined) assert.deepEqual(keys(due.waiting), before);
      }
      await store.commit([writeOf(T, { taken: ["a", "b", "c"], end: endOf(2) })]);
      const { waiting = [] } = await store.claimDue(claimQuery("node-2"));
      assert(keys(waiting).every((key) => key === `${taskId(2)} a`));
    },
  },
  {
    name: "counts the other living nodes, if it returns others",
    async run({ store, second, clock }) {
      const expectOthers = async (count: number): Promise<void> => {
        const { others } = await store.claimDue(claimQuery(NODE));
        if (others !== undefined) assert.equal(others, count);
      };
      await store.heartbeat(NODE, 20_000);
      await expectOthers(0);
      await second.heartbeat("node-2", 5000);
      await second.heartbeat("node-3", 9000);
      await expectOthers(2);
      clock.now += 5000;
      await expectOthers(1);
      await second.leave("node-3");
      await expectOthers(0);
    },
  },
];
