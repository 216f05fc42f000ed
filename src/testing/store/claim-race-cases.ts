import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { TaskId } from "../../protocol/ids.ts";
import type { DueTask, Outcome, Store, StoreOperation } from "../../store/contract.ts";
import {
  advanceOf,
  claimOf,
  claimQuery,
  claimWebhookOf,
  contextId,
  contextWriteOf,
  createOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { atOnce, commitAtOnce, ROUNDS, statusesOf } from "./at-once.ts";
import { recordOf, webhookIn } from "./results.ts";
import type { StoreCase, StoreTrial } from "./store-case.ts";

const LEASE = 10_000;
/** Ends a race in which no commit is refused. */
const MAX_COMMITS = 2000;
const NODES = ["node-2", "node-3"] as const;

/** Declares the nodes that claim alive. `NODE`, which has the tasks, is not. */
async function heartbeats({ store }: StoreTrial): Promise<void> {
  for (const node of NODES) await store.heartbeat(node, LEASE);
}

/** Commits the 1st, 2nd, … operation until one is not applied; returns how many were. */
async function commitUntilRefused(store: Store, operationOf: (n: number) => StoreOperation): Promise<number> {
  for (let n = 1; n <= MAX_COMMITS; n++) {
    const [outcome] = await store.commit([operationOf(n)]);
    if (outcome?.status === "ok") {
      // A store in memory commits without turning the event loop: let the claim progress.
      await setImmediate();
      continue;
    }
    assert.equal(outcome?.status, "fenced");
    return n - 1;
  }
  throw new assert.AssertionError({ message: `The former holder made ${MAX_COMMITS} commits, and none was fenced.` });
}

/** Claims the task in one of the three ways: by a forced claim, by a claim of a stopped node's task, or by `claimDue`. Returns the new epoch, and the last seq that the new holder reads. */
async function claimTask(store: Store, task: TaskId, round: number): Promise<{ readonly epoch: number; seq: number }> {
  if (round % 3 === 2) {
    const { tasks } = await store.claimDue(claimQuery(NODES[0]));
    const found = tasks.find(({ id }) => id === task);
    assert(found !== undefined);
    return found;
  }
  const [outcome] = await store.commit([claimOf(task, NODES[0], round % 3 === 0)]);
  assert(outcome?.status === "ok" && outcome.epoch !== undefined);
  return { epoch: outcome.epoch, seq: (await recordOf(store, task)).seq };
}

/** Calls the function until it returns nothing, and returns everything. */
async function exhaust<T>(claim: () => Promise<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let next = await claim(); next.length > 0; next = await claim()) found.push(...next);
  return found;
}

/** One claim has the new epoch as its outcome, the other one the node that has the lease or the webhook. */
function assertOneClaimed(found: readonly [Outcome, Outcome], epoch: number): void {
  assert.deepEqual(statusesOf(found), ["held", "ok"]);
  const winner = found[0].status === "ok" ? 0 : 1;
  assert.deepEqual(found[winner], { status: "ok", epoch });
  assert.deepEqual(found[1 - winner], { status: "held", node: NODES[winner] });
}

/** Races of claims: rules 2 and 3 of "What must be atomic" in the store contract. */
export const claimRaceCases: readonly StoreCase[] = [
  {
    name: "race: no write of the former holder is applied after a claim, and the new holder reads every earlier one",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const [written, claimed] = await atOnce(
          round,
          () => commitUntilRefused(store, (n) => writeOf(task, { entries: [statusEntry(1 + n)] })),
          () => claimTask(second, task, round),
        );
        assert.deepEqual([claimed.epoch, claimed.seq], [2, 1 + written]);
        assert.equal((await recordOf(store, task)).seq, 1 + written);
      }
    },
  },
  {
    name: "race: no context write of the former holder is applied after a claim, and the new holder reads every earlier one",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        const context = contextId(round);
        await store.commit([createOf(task, { contextId: context })]);
        const values = async (): Promise<(string | undefined)[]> =>
          (await second.contextValues(SCOPE, context)).map(({ value }) => value);
        const [written, read] = await atOnce(
          round,
          () => commitUntilRefused(store, (n) => contextWriteOf(task, "k", { value: `${n}` })),
          async () => {
            await claimTask(second, task, round);
            return values();
          },
        );
        assert.deepEqual(read, written === 0 ? [] : [`${written}`]);
        assert.deepEqual(await values(), read);
      }
    },
  },
  {
    name: "race: no advance of the former claimant is applied after a claim of the webhook, and the new claimant reads every earlier one",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, { webhook: webhookOf("w") })]);
        await store.commit([claimWebhookOf(task, "w", "stopped")]);
        const { epoch } = await webhookIn(store, "w", task);
        const [advanced, read] = await atOnce(
          round,
          () => commitUntilRefused(store, (n) => advanceOf(task, "w", { epoch, cursor: n })),
          async () => {
            if (round % 4 > 1) {
              const [claimed] = await second.claimWebhooks(claimQuery(NODES[0]));
              return claimed?.webhook.cursor;
            }
            assert.equal((await second.commit([claimWebhookOf(task, "w", NODES[0])]))[0]?.status, "ok");
            return (await webhookIn(second, "w", task)).cursor;
          },
        );
        assert.equal(read, advanced);
        assert.equal((await webhookIn(store, "w", task)).cursor, advanced);
      }
    },
  },
  {
    name: "race: of two claims of one task, one node gets it",
    async run(trial) {
      const { store } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, {}, { release: round % 4 > 1 })]);
        const found = await commitAtOnce(trial, round, [claimOf(task, NODES[0]), claimOf(task, NODES[1])]);
        assertOneClaimed(found, 2);
        assert.equal((await recordOf(store, task)).node, NODES[found[0].status === "ok" ? 0 : 1]);
      }
    },
  },
  {
    name: "race: two nodes that call claimDue at the same time get different tasks, and together all",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const tasks = Array.from({ length: 9 }, (_, index) => taskId(9 * round + index));
        await store.commit(tasks.map((task) => createOf(task)));
        const claim = (handle: Store, node: string): Promise<DueTask[]> =>
          exhaust(async () => (await handle.claimDue(claimQuery(node, { limit: 2 + (round % 8) }))).tasks);
        const found = await atOnce(
          round,
          () => claim(store, NODES[0]),
          () => claim(second, NODES[1]),
        );
        assert.deepEqual(
          found
            .flat()
            .map(({ id }) => id)
            .sort(),
          tasks,
        );
        for (const [index, claimed] of found.entries())
          for (const { id, epoch } of claimed) {
            const record = await recordOf(store, id);
            assert.deepEqual([epoch, record.epoch, record.node], [2, 2, NODES[index]]);
          }
      }
    },
  },
  {
    name: "race: a claim and claimDue do not both get a task",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const [[claimed], { tasks }] = await atOnce(
          round,
          () => store.commit([claimOf(task, NODES[0])]),
          () => second.claimDue(claimQuery(NODES[1])),
        );
        const { node, epoch } = await recordOf(store, task);
        assert.equal(epoch, 2);
        if (claimed?.status === "ok") assert.deepEqual([tasks, node], [[], NODES[0]]);
        else assert.deepEqual([claimed, tasks.length, node], [{ status: "held", node: NODES[1] }, 1, NODES[1]]);
      }
    },
  },
  {
    name: "race: of two claims of one webhook, one node gets it",
    async run(trial) {
      const { store } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, { webhook: webhookOf("w") })]);
        const operations = [claimWebhookOf(task, "w", NODES[0]), claimWebhookOf(task, "w", NODES[1])] as const;
        const found = await commitAtOnce(trial, round, operations);
        const { node, epoch } = await webhookIn(store, "w", task);
        assertOneClaimed(found, epoch);
        assert.equal(node, NODES[found[0].status === "ok" ? 0 : 1]);
      }
    },
  },
  {
    name: "race: two nodes that call claimWebhooks at the same time get different webhooks, and together all",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const tasks = Array.from({ length: 9 }, (_, index) => taskId(9 * round + index));
        await store.commit(tasks.map((task) => createOf(task, { webhook: webhookOf("w", { at: START + round }) })));
        const claim = async (handle: Store, node: string): Promise<TaskId[]> => {
          const query = claimQuery(node, { limit: 2 + (round % 8) });
          return (await exhaust(() => handle.claimWebhooks(query))).map(({ webhook }) => webhook.task);
        };
        const found = await atOnce(
          round,
          () => claim(store, NODES[0]),
          () => claim(second, NODES[1]),
        );
        assert.deepEqual(found.flat().sort(), tasks);
        for (const [index, claimed] of found.entries())
          for (const task of claimed) assert.equal((await webhookIn(store, "w", task)).node, NODES[index]);
      }
    },
  },
  {
    name: "race: a claim of a webhook and claimWebhooks do not both get it",
    async run(trial) {
      const { store, second } = trial;
      await heartbeats(trial);
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, { webhook: webhookOf("w") })]);
        const [[claimed], due] = await atOnce(
          round,
          () => store.commit([claimWebhookOf(task, "w", NODES[0])]),
          () => second.claimWebhooks(claimQuery(NODES[1])),
        );
        const { node } = await webhookIn(store, "w", task);
        if (claimed?.status === "ok") assert.deepEqual([due, node], [[], NODES[0]]);
        else assert.deepEqual([claimed, due.length, node], [{ status: "held", node: NODES[1] }, 1, NODES[1]]);
      }
    },
  },
];
