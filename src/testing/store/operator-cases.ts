import assert from "node:assert/strict";
import type { ListCursor, OperatorQuery, Store, TaskCreate, TaskHead } from "../../store/contract.ts";
import { contextId, createOf, endOf, headOf, SCOPE, START, taskId, writeOf } from "../store-operations.ts";
import { recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

/** The numbers of the tasks that match, of all pages of two. */
async function listed(store: Store, query: Partial<OperatorQuery> = {}, limit = 2): Promise<number[]> {
  const found: number[] = [];
  for (let before: ListCursor | undefined; ; ) {
    const page = await store.listAll({ limit, ...query, ...(before !== undefined && { before }) });
    assert(page.tasks.length <= limit);
    assert(page.next === undefined || page.tasks.length === limit, "only the last page may be short");
    found.push(...page.tasks.map(({ id }) => Number(id.slice(5))));
    if (page.next === undefined) return found;
    before = page.next;
  }
}

interface Example {
  readonly create?: Partial<TaskCreate>;
  readonly head?: Partial<TaskHead>;
  readonly ends?: boolean;
}

/** Tasks 0, 1, 2, … with one commit each. Task n has the status time n, unless it says otherwise. */
async function createAll(store: Store, examples: readonly Example[]): Promise<void> {
  for (const [n, { create = {}, head, ends = false }] of examples.entries()) {
    const full = headOf(ends ? "completed" : "working", { statusAt: START + n, ...head });
    await store.commit([createOf(taskId(n), create, ends ? { end: endOf(2, { head: full }) } : { head: full })]);
  }
}

/** `Store.listAll`, and the relations between tasks. */
export const operatorCases: readonly StoreCase[] = [
  {
    name: "lists the tasks of all scopes for operators, newest status first and equal times by id, with every page size",
    async run({ store }) {
      assert.deepEqual(await store.listAll({ limit: 9 }), { tasks: [] });
      const times = [5, 3, 5, 1, 5, 3, 9, 0];
      await createAll(
        store,
        times.map((at, n) => ({
          create: { scope: { agent: `a${n % 3}`, tenant: `t${n % 2}`, owner: `o${n % 4}` } },
          head: { statusAt: START + at },
        })),
      );
      for (const limit of [1, 2, 3, 4, 8, 9])
        assert.deepEqual(await listed(store, {}, limit), [6, 4, 2, 0, 5, 1, 3, 7]);
    },
  },
  {
    name: "filters the list for operators by agent, tenant, owner, context and state, alone and combined",
    async run({ store }) {
      const scope = (part: object): { scope: typeof SCOPE } => ({ scope: { ...SCOPE, ...part } });
      await createAll(store, [
        {},
        { create: scope({ agent: "other" }) },
        { create: scope({ tenant: "t" }) },
        { create: scope({ owner: "bob" }) },
        { create: { contextId: contextId(2) } },
        { ends: true },
        { create: { ...scope({ agent: "other", owner: "bob" }), contextId: contextId(2) }, ends: true },
      ]);
      for (const [query, expected] of [
        [{}, [6, 5, 4, 3, 2, 1, 0]],
        [{ agent: "other" }, [6, 1]],
        [{ tenant: "t" }, [2]],
        [{ tenant: "" }, [6, 5, 4, 3, 1, 0]],
        [{ owner: "bob" }, [6, 3]],
        [{ contextId: contextId(2) }, [6, 4]],
        [{ state: "completed" }, [6, 5]],
        [{ state: "working" }, [4, 3, 2, 1, 0]],
        [{ agent: SCOPE.agent, owner: "bob" }, [3]],
        [{ agent: "other", owner: "bob", contextId: contextId(2), state: "completed", tenant: "" }, [6]],
        [{ agent: "other", state: "working" }, [1]],
        [{ agent: "none" }, []],
        [{ agent: "other", tenant: "t" }, []],
      ] as const satisfies readonly (readonly [Partial<OperatorQuery>, readonly number[]])[])
        assert.deepEqual(await listed(store, query), expected, JSON.stringify(query));
    },
  },
  {
    name: "filters the list for operators by status time: from statusSince, before statusBefore",
    async run({ store }) {
      await createAll(store, [{}, {}, {}, {}, { create: { scope: { ...SCOPE, agent: "other" } } }]);
      const at = (since?: number, before?: number): Partial<OperatorQuery> => ({
        ...(since !== undefined && { statusSince: START + since }),
        ...(before !== undefined && { statusBefore: START + before }),
      });
      assert.deepEqual(await listed(store, at(2)), [4, 3, 2]);
      assert.deepEqual(await listed(store, at(undefined, 2)), [1, 0]);
      assert.deepEqual(await listed(store, at(1, 4)), [3, 2, 1]);
      assert.deepEqual(await listed(store, at(2, 2)), []);
      assert.deepEqual(await listed(store, { ...at(1), agent: SCOPE.agent }), [3, 2, 1]);
    },
  },
  {
    name: "finds the tasks that a task has called by parent, and all tasks below a task by root",
    async run({ store }) {
      const outside = taskId(99);
      await createAll(store, [
        {},
        { create: { parent: taskId(0), root: taskId(0) } },
        { create: { parent: taskId(0), root: taskId(0), scope: { ...SCOPE, agent: "other" } } },
        { create: { parent: taskId(1), root: taskId(0) }, ends: true },
        { create: { parent: outside, root: outside } },
        {},
      ]);
      assert.deepEqual(await listed(store, { parent: taskId(0) }), [2, 1]);
      assert.deepEqual(await listed(store, { root: taskId(0) }), [3, 2, 1]);
      assert.deepEqual(await listed(store, { parent: taskId(1) }), [3]);
      assert.deepEqual(await listed(store, { root: taskId(1) }), []);
      assert.deepEqual(await listed(store, { root: outside }), [4]);
      assert.deepEqual(await listed(store, { root: taskId(0), parent: taskId(0), agent: "other" }), [2]);
      assert.deepEqual(await listed(store, { root: taskId(0), state: "completed" }), [3]);
      const third = await recordOf(store, taskId(3));
      assert.deepEqual([third.parent, third.root], [taskId(1), taskId(0)]);
      const first = await recordOf(store, taskId(0));
      assert.deepEqual(["parent" in first, "root" in first], [false, false]);
      const page = await store.list({ scope: SCOPE, limit: 9, artifacts: false, history: 0 });
      assert.equal(page.tasks.find(({ id }) => id === taskId(4))?.parent, outside);
    },
  },
  {
    name: "lists records for operators without history and artifacts",
    async run({ store }) {
      const history = [{ after: 0, body: '{"messageId":"m"}' }];
      await store.commit([createOf(taskId(1), {}, { history, end: endOf(2, { artifacts: "[]" }) })]);
      await store.commit([createOf(taskId(2), { parent: taskId(1), root: taskId(1) }, { history })]);
      const options = { artifacts: false, history: 0 };
      const expected = [await store.get(taskId(2), options), await store.get(taskId(1), options)];
      assert.deepEqual((await store.listAll({ limit: 9 })).tasks, expected);
    },
  },
  {
    name: "lists for operators every unchanged task exactly once while other tasks change",
    async run({ store }) {
      await createAll(store, [{}, {}, {}, {}, {}, {}]);
      const first = await store.listAll({ limit: 2 });
      const later = headOf("completed", { statusAt: START + 100 });
      for (const n of [0, 3]) await store.commit([writeOf(taskId(n), { end: endOf(2, { head: later }) })]);
      const rest = await store.listAll({ limit: 9, ...(first.next !== undefined && { before: first.next }) });
      const ids = [...first.tasks, ...rest.tasks].map(({ id }) => id);
      assert.deepEqual(ids, [5, 4, 2, 1].map(taskId));
    },
  },
];
