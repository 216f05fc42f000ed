import assert from "node:assert/strict";
import type { Outcome } from "../../store/contract.ts";
import {
  advanceOf,
  contextId,
  contextWriteOf,
  createOf,
  endOf,
  SCOPE,
  setWebhookOf,
  taskId,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { commitAtOnce, ROUNDS, statusesOf } from "./at-once.ts";
import { outcomes, webhookIn } from "./results.ts";
import type { StoreCase, StoreTrial } from "./store-case.ts";

/** Two tasks with one context: a lock of the task's row does not keep their writes apart. */
async function createPair({ store }: StoreTrial, round: number): Promise<void> {
  const context = { contextId: contextId(round), contextShared: true };
  await store.commit([createOf(taskId(2 * round), context), createOf(taskId(2 * round + 1), context)]);
}

/** Writes the same key, or another one, from both tasks of a pair at the same time. */
function writeBoth(
  trial: StoreTrial,
  round: number,
  [first, second]: readonly [Parameters<typeof contextWriteOf>[2], Parameters<typeof contextWriteOf>[2]],
): Promise<readonly [Outcome, Outcome]> {
  return commitAtOnce(trial, round, [
    contextWriteOf(taskId(2 * round), "k", { step: { key: "s", value: "1" }, ...first }),
    contextWriteOf(taskId(2 * round + 1), "k", { step: { key: "s", value: "1" }, ...second }),
  ]);
}

/** Races of webhooks with ends, and of context writes: rules 7 and 8 of "What must be atomic" in the store contract. */
export const stateRaceCases: readonly StoreCase[] = [
  {
    name: "race: a webhook that has not delivered the last event does not become idle while the task ends",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, { webhook: webhookOf("w") })]);
        const { epoch } = await webhookIn(store, "w", task);
        const idle = advanceOf(task, "w", { epoch, cursor: 1, state: "idle" });
        const found = await commitAtOnce(trial, round, [idle, writeOf(task, { end: endOf(2) })]);
        assert.deepEqual(found, [{ status: "inbox" }, { status: "ok" }]);
        const { state, cursor } = await webhookIn(store, "w", task);
        assert.deepEqual([state, cursor], ["active", 1]);
      }
    },
  },
  {
    name: "race: a webhook that has delivered the last event becomes idle, or stays active if the end was not yet stored",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task, { webhook: webhookOf("w") })]);
        const { epoch } = await webhookIn(store, "w", task);
        const idle = advanceOf(task, "w", { epoch, cursor: 2, state: "idle" });
        const [advanced, ended] = await commitAtOnce(trial, round, [idle, writeOf(task, { end: endOf(2) })]);
        assert.equal(ended.status, "ok");
        const { state } = await webhookIn(store, "w", task);
        assert.deepEqual([advanced.status, state], advanced.status === "ok" ? ["ok", "idle"] : ["inbox", "active"]);
        if (state === "active") assert.deepEqual(await outcomes(store, idle), ["ok"]);
      }
    },
  },
  {
    name: "race: a webhook that is set while the task ends receives the last event",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const operations = [setWebhookOf(task, "w"), writeOf(task, { end: endOf(2) })] as const;
        assert.deepEqual(statusesOf(await commitAtOnce(trial, round, operations)), ["ok", "ok"]);
        const { state, cursor } = await webhookIn(store, "w", task);
        assert.deepEqual([state, cursor], ["active", 1]);
      }
    },
  },
  {
    name: "race: of two context writes that expect the same version, one is applied with its step and the other is a conflict",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        await createPair(trial, round);
        let expected = 0;
        // First both create the value, then both change it; at last one changes it and the other deletes it.
        for (const values of [["a", "b"], ["c", "d"], ["e"]]) {
          const found = await writeBoth(trial, round, [
            { expected, ...(values[0] !== undefined && { value: values[0] }) },
            { expected, ...(values[1] !== undefined && { value: values[1] }) },
          ]);
          assert.deepEqual(statusesOf(found), ["conflict", "ok"]);
          const winner = found[0].status === "ok" ? 0 : 1;
          const [stored] = await store.contextValues(SCOPE, contextId(round));
          assert.equal(stored?.value, values[winner]);
          if (expected === 0) {
            const steps = [await store.steps(taskId(2 * round)), await store.steps(taskId(2 * round + 1))];
            assert.deepEqual([steps[winner]?.length, steps[1 - winner]?.length], [1, 0]);
          }
          expected = stored?.version ?? 0;
        }
      }
    },
  },
  {
    name: "race: two context writes at the same time have different versions",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        await createPair(trial, round);
        const found = await writeBoth(trial, round, [{ value: "a" }, { value: "b" }]);
        assert.deepEqual(statusesOf(found), ["ok", "ok"]);
        const versions = found.map((outcome) => (outcome.status === "ok" ? (outcome.version ?? 0) : 0));
        assert.equal(new Set(versions).size, 2);
        const [stored] = await store.contextValues(SCOPE, contextId(round));
        assert.equal(stored?.version, Math.max(...versions));
        assert.equal(stored?.value, stored?.version === versions[0] ? "a" : "b");
      }
    },
  },
  {
    name: "race: context writes at the same time do not exceed maxBytes together",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        await createPair(trial, round);
        const found = await writeBoth(trial, round, [
          { key: "a", value: "12345", maxBytes: 10 },
          { key: "b", value: "12345", maxBytes: 10 },
        ]);
        assert.deepEqual(statusesOf(found), ["full", "ok"]);
        assert.equal((await store.contextValues(SCOPE, contextId(round))).length, 1);
      }
    },
  },
];
