import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createUuidSource } from "../../internal/uuid.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { TaskState } from "../../protocol/state.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { createOf, endOf, headOf, START } from "../../testing/store-operations.ts";
import type { OperatorQuery, Store, TaskCreate, TaskWrite } from "../contract.ts";
import { createMemoryStore } from "../memory/store.ts";
import { IS_FIRST_TASK } from "./row/first-task.ts";
import { LAST_MERGED_SCOPE } from "./scope-ids.ts";

const uuid = createUuidSource();
const ADA: Scope = { agent: "echo", tenant: "", owner: "ada" };
const BOB: Scope = { ...ADA, owner: "bob" };

interface Ending {
  readonly state?: TaskState | undefined;
  readonly at?: number;
}

/** A task that ended in its first commit. */
function ended(id: TaskId, create: Partial<TaskCreate>, { state = "completed", at = START }: Ending = {}): TaskWrite {
  return createOf(id, create, { end: endOf(2, { head: headOf(state, { statusAt: at }) }) });
}

/** An id, and the id of a context that is created for it, as the engine does. Safe casts: ids are opaque. */
function newIds(): readonly [TaskId, ContextId] {
  return [uuid(START) as TaskId, uuid(START) as ContextId];
}

async function listed(store: Store, contextId: ContextId, further: { scope?: Scope; state?: TaskState } = {}) {
  const query = { scope: ADA, limit: 10, artifacts: false, history: 0, contextId, ...further };
  const { tasks, total } = await store.list(query);
  expect(total).toBe(tasks.length);
  const { scope } = query;
  const all = await store.listAll({ ...further, contextId, limit: 10, agent: scope.agent, owner: scope.owner });
  expect(all.tasks.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
  return tasks.map(({ id }) => id);
}

function countIn(file: string, index: string, where: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare(`SELECT count(*) AS n FROM task INDEXED BY ${index} WHERE ${where}`).get();
  database.close();
  return row?.["n"];
}

describe("the first task of a context that the server created", () => {
  test("is not in the index by context, and is listed by its context", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const [id, contextId] = newIds();
    const [other, otherContext] = newIds();
    await store.commit([ended(id, { contextId, scope: ADA }), ended(other, { contextId: otherContext, scope: BOB })]);
    expect(await listed(store, contextId)).toEqual([id]);
    expect(await listed(store, contextId, { state: "completed" })).toEqual([id]);
    expect(await listed(store, contextId, { state: "working" })).toEqual([]);
    expect(await listed(store, contextId, { scope: BOB })).toEqual([]);
    expect((await store.listAll({ contextId, limit: 10 })).tasks.map((task) => task.id)).toEqual([id]);
    expect((await store.listAll({ contextId, tenant: "acme", limit: 10 })).tasks).toEqual([]);
    await store.close();
    expect(countIn(trial.file, "task_by_context", "counted < 2")).toBe(0);
  });

  test("stays the first of its context when a caller names the context, while it runs or after it ended", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    for (const first of [
      (id: TaskId, contextId: ContextId) => ended(id, { contextId, scope: ADA }),
      (id: TaskId, contextId: ContextId) => createOf(id, { contextId, scope: ADA }),
    ]) {
      const [id, contextId] = newIds();
      await store.commit([first(id, contextId)]);
      const [second] = newIds();
      await store.commit([ended(second, { contextId, contextShared: true, scope: ADA }, { at: START + 1000 })]);
      expect(await listed(store, contextId)).toEqual([second, id]);
      expect(await listed(store, contextId, { state: "completed" })).toContain(second);
    }
    await store.close();
    expect(countIn(trial.file, "task_by_context", "counted < 2")).toBe(4);
  });

  test("is in the index by context if the ids do not follow each other", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const [id, contextId] = newIds();
    const [second] = newIds();
    await store.commit([ended(second, { contextId, scope: ADA }), ended(id, { contextId: "mine" as ContextId })]);
    expect(await listed(store, contextId)).toEqual([second]);
    await store.close();
    expect(countIn(trial.file, "task_by_context", "counted < 2")).toBe(2);
  });

  test("is found by the index of ids, whatever number of tasks there is", async () => {
    await using trial = await sqliteTrial();
    await (await trial.open()).close();
    const database = new DatabaseSync(trial.file);
    const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT pk FROM task WHERE ${IS_FIRST_TASK}`).all("a", "b", "c");
    database.close();
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH task USING INDEX sqlite_autoindex_task_1 (id>? AND id<?)",
    ]);
  });
});

test("operators list the tasks of more scopes than are merged, page by page, as in the memory store", async () => {
  await using trial = await sqliteTrial();
  const stores = [await trial.open(), createMemoryStore({ retention: {}, now: () => START })] as const;
  const states = ["completed", "failed"] as const;
  const writes = Array.from({ length: 6 * LAST_MERGED_SCOPE }, (_, n) => {
    const [id, contextId] = newIds();
    // Every agent has scopes before and after the last one that is merged.
    const scope = { agent: `agent${n % 3}`, tenant: "", owner: `owner${n % (2 * LAST_MERGED_SCOPE)}` };
    return ended(id, { contextId, scope }, { state: states[n % 2], at: START + (n % 7) });
  });
  for (const store of stores) await store.commit(writes);
  const queries: Omit<OperatorQuery, "limit">[] = [
    {},
    { agent: "agent1" },
    { state: "failed" },
    { agent: "agent2", state: "completed" },
    { agent: "agent0", statusSince: START + 2, statusBefore: START + 5 },
  ];
  for (const query of queries) {
    const [sqlite, memory] = await Promise.all(stores.map((store) => pagesOf(store, query)));
    expect(sqlite).toEqual(memory);
    expect(sqlite?.flat().length).toBeGreaterThan(4);
  }
  await stores[0].close();
  const inIndex = countIn(trial.file, "task_by_agent", `scope > ${LAST_MERGED_SCOPE}`);
  expect(inIndex).toBeGreaterThan(0);
  expect(inIndex).toBeLessThan(writes.length);
});

async function pagesOf(store: Store, query: Omit<OperatorQuery, "limit">): Promise<string[][]> {
  const pages: string[][] = [];
  let before: OperatorQuery["before"];
  do {
    const page = await store.listAll({ ...query, limit: 4, ...(before !== undefined && { before }) });
    pages.push(page.tasks.map(({ id }) => id));
    before = page.next;
  } while (before !== undefined);
  return pages;
}
