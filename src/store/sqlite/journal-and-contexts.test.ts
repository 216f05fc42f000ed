import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type SqliteTrial, sqliteTrial } from "../../testing/sqlite-trial.ts";
import {
  contextId,
  createOf,
  endOf,
  headOf,
  NODE,
  SCOPE,
  START,
  taskId,
  writeOf,
} from "../../testing/store-operations.ts";
import type { ContextWrite } from "../contract.ts";

const DAY = 86_400_000;

function rowsOf({ file }: SqliteTrial, table: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
  database.close();
  return Number(row?.["n"]);
}

function setValue(n: number, value: string): ContextWrite {
  return { kind: "context-write", task: taskId(n), epoch: 1, key: "k", value, maxBytes: 100 };
}

const ENDED = { head: headOf("completed") };
const journal = [{ key: "attempt", body: "{}" }];

describe("the journal", () => {
  test("has no rows for tasks without records, and loses them with the log of a task", async () => {
    await using trial = await sqliteTrial();
    let now = START;
    const store = await trial.open({ now: () => now, retention: { logAge: DAY } });
    await store.commit([createOf(taskId(1), {}, { end: endOf(2, ENDED) }), createOf(taskId(2))]);
    expect(rowsOf(trial, "journal")).toBe(0);
    await store.commit([
      createOf(taskId(3), {}, { end: endOf(2, ENDED), journal }),
      writeOf(taskId(2), { journal, end: endOf(2, ENDED) }),
    ]);
    expect(await store.journal(taskId(3))).toEqual(journal);
    expect(rowsOf(trial, "journal")).toBe(2);
    now += 2 * DAY;
    expect(await store.sweep()).toBe(3);
    expect(rowsOf(trial, "journal")).toBe(0);
  });

  test("of a task that ended in its first commit is deleted with the task", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { maxTasks: 1 } });
    await store.commit([createOf(taskId(1), {}, { end: endOf(2, ENDED), journal })]);
    await store.commit([createOf(taskId(2))]);
    expect(await store.get(taskId(1), { artifacts: false })).toBeUndefined();
    expect(rowsOf(trial, "journal")).toBe(0);
  });
});

describe("the values of a context", () => {
  test("survive a restart, and are deleted with the last task of the context, also if the file was opened in between", async () => {
    await using trial = await sqliteTrial();
    let now = START;
    const retention = { maxAge: DAY };
    const first = await trial.open({ now: () => now, retention });
    const shared = { contextShared: true };
    await first.commit([createOf(taskId(1), shared), setValue(1, "1"), createOf(taskId(2), shared)]);
    await first.commit([writeOf(taskId(1), { end: endOf(2, ENDED) })]);
    await first.close();

    const store = await trial.open({ now: () => now, retention });
    now += 2 * DAY;
    expect(await store.sweep()).toBe(1);
    expect(await store.contextValues(SCOPE, contextId(1))).toEqual([{ key: "k", value: "1", version: 1 }]);
    await store.heartbeat(NODE, DAY);
    const { tasks } = await store.claimDue({ node: NODE, agents: [SCOPE.agent], limit: 9 });
    expect(tasks).toMatchObject([{ id: taskId(2), epoch: 2, seq: 1 }]);
    await store.commit([writeOf(taskId(2), { epoch: 2, end: endOf(2, ENDED) })]);
    expect(await store.sweep()).toBe(1);
    expect(await store.contextValues(SCOPE, contextId(1))).toEqual([]);
    expect([rowsOf(trial, "context"), rowsOf(trial, "context_value")]).toEqual([0, 0]);
  });
});

test("a claim sees the commits that were sent before it, even if their outcomes have not arrived", async () => {
  await using trial = await sqliteTrial();
  const store = await trial.open();
  await store.heartbeat(NODE, DAY);
  const commit = store.commit([createOf(taskId(1), {}, { release: true })]);
  const claim = store.claimDue({ node: NODE, agents: [SCOPE.agent], limit: 9 });
  expect((await claim).tasks).toMatchObject([{ id: taskId(1), epoch: 2 }]);
  await commit;
  expect(await store.claimsOf(NODE)).toEqual({ tasks: [{ id: taskId(1), epoch: 2 }], webhooks: [] });
});
