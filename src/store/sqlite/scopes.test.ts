import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { outcomes } from "../../testing/store/results.ts";
import { createOf, endOf, headOf, START, setWebhookOf, taskId } from "../../testing/store-operations.ts";
import type { Store, TaskWrite } from "../contract.ts";

const scopeOf = (tenant: string) => ({ agent: "echo", tenant, owner: "ada" });

/** A task of the tenant that ended `n` ms after START. */
const ended = (n: number, tenant: string): TaskWrite =>
  createOf(
    taskId(n),
    { scope: scopeOf(tenant), messageId: `m${n}` },
    { end: endOf(2, { head: headOf("completed", { statusAt: START + n }) }) },
  );

function rowsIn(file: string, table: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  } finally {
    database.close();
  }
}

async function listed(store: Store, tenant: string): Promise<readonly string[]> {
  const { tasks, total } = await store.list({ scope: scopeOf(tenant), limit: 10, artifacts: false, history: 0 });
  expect(total).toBe(tasks.length);
  return tasks.map(({ id, scope }) => `${scope.tenant} ${id}`);
}

describe("the scopes in a file", () => {
  test("are not created by reads", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.commit([ended(1, "known")]);
    for (let n = 0; n < 50; n++) {
      await store.list({ scope: scopeOf(`t${n}`), limit: 1, artifacts: false, history: 0 });
      await store.get(taskId(1), { scope: scopeOf(`t${n}`), artifacts: false });
      await store.findByMessage(scopeOf(`t${n}`), "m1");
      await store.commit([setWebhookOf(taskId(1), "w", { scope: scopeOf(`t${n}`) })]);
    }
    expect(rowsIn(trial.file, "scope")).toBe(1);
  });

  test("are not created by refused tasks", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    expect(await outcomes(store, ended(1, "first"), ended(1, "second"))).toEqual(["ok", "duplicate"]);
    expect(rowsIn(trial.file, "scope")).toBe(1);
    expect(await outcomes(store, ended(2, "second"))).toEqual(["ok"]);
    expect(await listed(store, "second")).toEqual([`second ${taskId(2)}`]);
  });

  test("are deleted with their last task, and so are their counters", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { maxAge: 1000 }, now: () => START + 5000 });
    await store.commit(Array.from({ length: 100 }, (_, n) => ended(n, `t${n % 50}`)));
    await store.commit([ended(4900, "t7"), createOf(taskId(4901), { scope: scopeOf("at work") })]);
    expect(rowsIn(trial.file, "scope")).toBe(51);
    expect(await store.sweep()).toBe(100);
    expect(rowsIn(trial.file, "scope")).toBe(2);
    expect(await listed(store, "t7")).toEqual([`t7 ${taskId(4900)}`]);
    expect(await listed(store, "t8")).toEqual([]);
    expect(rowsIn(trial.file, "counter")).toBe(10);
  });

  test("never show tasks of each other while they are created and deleted", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { maxTasks: 3, pruneCount: 2 } });
    for (let n = 1; n <= 60; n++) {
      // Two commits at a time, so that the second is queued while the first removes scopes.
      const tenants = [`t${n % 4}`, `t${(n * 7) % 5}`];
      await Promise.all(tenants.map((tenant, index) => store.commit([ended(2 * n + index, tenant)])));
      const all: string[] = [];
      for (const tenant of ["t0", "t1", "t2", "t3", "t4"]) {
        const found = await listed(store, tenant);
        for (const task of found) expect(task.startsWith(`${tenant} `)).toBe(true);
        all.push(...found);
      }
      expect(all).toContain(`${tenants[1]} ${taskId(2 * n + 1)}`);
      expect(all).toHaveLength(rowsIn(trial.file, "task"));
      expect(rowsIn(trial.file, "scope")).toBeLessThanOrEqual(3);
      const last = await store.findByMessage(scopeOf(tenants[1] ?? ""), `m${2 * n + 1}`);
      expect(last?.task).toBe(taskId(2 * n + 1));
    }
  });

  test("are unchanged if the transaction that removed them fails", async () => {
    await using trial = await sqliteTrial();
    const faults: ("full" | undefined)[] = [];
    const store = await trial.open({ retention: { maxTasks: 1, pruneCount: 1 }, fault: () => faults.shift() });
    await store.commit([ended(1, "old")]);
    faults.push("full");
    await expect(store.commit([ended(2, "new")])).rejects.toMatchObject({ code: "full" });
    expect(await listed(store, "old")).toEqual([`old ${taskId(1)}`]);
    await store.commit([ended(3, "new")]);
    expect([await listed(store, "old"), await listed(store, "new")]).toEqual([[], [`new ${taskId(3)}`]]);
    await store.commit([ended(4, "old")]);
    expect([await listed(store, "old"), await listed(store, "new")]).toEqual([[`old ${taskId(4)}`], []]);
  });

  test("without tasks, left by an earlier release, are deleted when the file is opened", async () => {
    await using trial = await sqliteTrial();
    await (await trial.open()).close();
    const database = new DatabaseSync(trial.file);
    database.exec("INSERT INTO scope VALUES (1, 'echo', 'left', 'ada'), (2, 'echo', 'too', 'ada')");
    database.close();
    await trial.open({ retention: { maxTasks: 10 } });
    expect(rowsIn(trial.file, "scope")).toBe(0);
  });
});
