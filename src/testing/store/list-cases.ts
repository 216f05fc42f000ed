import assert from "node:assert/strict";
import type { TaskId } from "../../protocol/ids.ts";
import type { HistoryEntry, ListCursor, ListQuery, Store, TaskRecord, TaskWrite } from "../../store/contract.ts";
import {
  chunkEntry,
  contextId,
  createOf,
  endOf,
  headOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "../store-operations.ts";
import type { StoreCase } from "./store-case.ts";

const QUERY: ListQuery = { scope: SCOPE, limit: 100, artifacts: false, history: 0 };

/** Reads all pages of a query in order, and checks each page. */
export async function readPages(
  store: Store,
  query: ListQuery,
  between?: () => Promise<unknown>,
): Promise<TaskRecord[]> {
  const read: TaskRecord[] = [];
  for (let before: ListCursor | undefined; ; ) {
    const page = await store.list({ ...query, ...(before !== undefined && { before }) });
    assert(page.tasks.length <= query.limit);
    assert(page.total >= page.tasks.length, "the total is not less than the number of tasks on the page");
    if (page.next !== undefined) {
      assert(page.tasks.length > 0, "a page that is not the last has a task");
      if (query.maxBytes === undefined) assert.equal(page.tasks.length, query.limit, "only the last page may be short");
    }
    read.push(...page.tasks);
    if (page.next === undefined) return read;
    before = page.next;
    await between?.();
  }
}

const KB = 1000;

/** A task with a history of two messages, a log and optionally folded artifacts, each of about the given number of bytes. */
function sizedTask(n: number, sizes: { history?: number; log?: number; artifacts?: number }): TaskWrite[] {
  const { history = 10, log = 10, artifacts } = sizes;
  const message = (after: number): HistoryEntry => ({ after, body: JSON.stringify("m".repeat(history / 2)) });
  const end = endOf(3, {
    head: headOf("completed", { statusAt: START + n }),
    history: [message(2)],
    ...(artifacts !== undefined && { artifacts: JSON.stringify([{ artifactId: "a".repeat(artifacts) }]) }),
  });
  return [
    createOf(taskId(n), {}, { history: [message(0)] }),
    writeOf(taskId(n), { entries: [chunkEntry(2, "l".repeat(log), false)], end }),
  ];
}

/** The task ids of each page of a query. */
async function pagesOf(store: Store, query: ListQuery): Promise<TaskId[][]> {
  const pages: TaskId[][] = [];
  for (let before: ListCursor | undefined; ; ) {
    const page = await store.list({ ...query, ...(before !== undefined && { before }) });
    pages.push(page.tasks.map(({ id }) => id));
    if (page.next === undefined) return pages;
    before = page.next;
  }
}

export const storeListCases: readonly StoreCase[] = [
  {
    name: "ends a page before the task that would take it over maxBytes, and begins the next page with that task",
    async run({ store, settle }) {
      for (let n = 1; n <= 9; n++) await store.commit(sizedTask(n, { artifacts: 30 * KB }));
      const pages = await pagesOf(store, { ...QUERY, artifacts: true, maxBytes: 100 * KB });
      assert.deepEqual(pages, [[9, 8, 7].map(taskId), [6, 5, 4].map(taskId), [3, 2, 1].map(taskId)]);
      await settle();
      const page = await store.list({ ...QUERY, artifacts: true, maxBytes: 100 * KB });
      assert.equal(page.total, 9);
      const without = await pagesOf(store, { ...QUERY, maxBytes: 100 * KB });
      assert.deepEqual(without, [[9, 8, 7, 6, 5, 4, 3, 2, 1].map(taskId)]);
    },
  },
  {
    name: "counts towards maxBytes the log of a task whose artifacts are not folded, and the requested history",
    async run({ store }) {
      for (let n = 1; n <= 4; n++) await store.commit(sizedTask(n, { log: 60 * KB }));
      for (let n = 5; n <= 8; n++) await store.commit(sizedTask(n, { history: 60 * KB }));
      const one = (n: number): TaskId[] => [taskId(n)];
      const logs = await pagesOf(store, { ...QUERY, artifacts: true, maxBytes: 100 * KB });
      assert.deepEqual(logs, [[8, 7, 6, 5, 4].map(taskId), one(3), one(2), one(1)]);
      const histories = await pagesOf(store, { ...QUERY, history: undefined, maxBytes: 100 * KB });
      assert.deepEqual(histories, [one(8), one(7), one(6), [5, 4, 3, 2, 1].map(taskId)]);
      const halves = await pagesOf(store, { ...QUERY, history: 1, maxBytes: 100 * KB });
      assert.deepEqual(halves, [[8, 7, 6].map(taskId), [5, 4, 3, 2, 1].map(taskId)]);
    },
  },
  {
    name: "gives a task larger than maxBytes its own page, and lists every task exactly once even with the smallest maxBytes",
    async run({ store }) {
      const sizes = [1, 200, 3, 400, 5, 90, 9];
      for (const [n, size] of sizes.entries()) await store.commit(sizedTask(n, { artifacts: size * KB }));
      const query = { ...QUERY, artifacts: true, history: undefined };
      const all = [6, 5, 4, 3, 2, 1, 0].map(taskId);
      assert.deepEqual((await pagesOf(store, { ...query, maxBytes: 1 })).flat(), all);
      const pages = await pagesOf(store, { ...query, maxBytes: 100 * KB });
      assert.deepEqual(pages, [
        [6, 5].map(taskId),
        [4].map(taskId),
        [3].map(taskId),
        [2].map(taskId),
        [1].map(taskId),
        [0].map(taskId),
      ]);
      const limited = await readPages(store, { ...query, limit: 2, maxBytes: 1000 * KB });
      assert.deepEqual(
        limited.map(({ id }) => id),
        all,
      );
    },
  },
  {
    name: "omits artifacts and histories over largeBytes from the records of a page, but counts them towards maxBytes",
    async run({ store }) {
      await store.commit(sizedTask(1, { artifacts: 50 * KB }));
      await store.commit(sizedTask(2, { history: 50 * KB, artifacts: 1 * KB }));
      const query = { ...QUERY, artifacts: true, history: undefined, largeBytes: 10 * KB };
      const { tasks } = await store.list(query);
      assert.deepEqual(
        tasks.map(({ artifacts, history, largeHistory }) => [artifacts !== undefined, history.length, largeHistory]),
        [
          [true, 0, { from: 0, to: 2 }],
          [false, 2, undefined],
        ],
      );
      assert.equal((await pagesOf(store, { ...query, maxBytes: 90 * KB })).length, 2);
      assert.equal((await pagesOf(store, { ...query, maxBytes: 110 * KB })).length, 1);
    },
  },
  {
    name: "lists the newest status first and equal times by id, with every page size",
    async run({ store, settle }) {
      const times = [5, 3, 5, 1, 5, 3, 9, 0];
      await store.commit(
        times.map((at, index) => createOf(taskId(index), {}, { head: headOf("working", { statusAt: START + at }) })),
      );
      const expected = [6, 4, 2, 0, 5, 1, 3, 7].map(taskId);
      for (const limit of [1, 2, 3, 4, 8, 9]) {
        const read = await readPages(store, { ...QUERY, limit });
        assert.deepEqual(
          read.map((task) => task.id),
          expected,
        );
      }
      await settle();
      const page = await store.list({ ...QUERY, limit: 8 });
      assert.equal(page.total, 8);
      assert.equal(page.next, undefined);
    },
  },
  {
    name: "lists complete records with the requested history and artifacts",
    async run({ store }) {
      const history = [0, 1].map((after) => ({ after, body: `{"n":${after}}` }));
      await store.commit([
        createOf(taskId(1), {}, { history, end: endOf(2, { artifacts: "[]" }) }),
        createOf(taskId(2), {}, { history: history.slice(0, 1) }),
      ]);
      await store.commit([writeOf(taskId(2), { history: history.slice(1), entries: [statusEntry(2)] })]);
      for (const options of [
        { artifacts: true },
        { artifacts: false, history: 0 },
        { artifacts: true, history: 1 },
        { artifacts: false, history: undefined },
      ]) {
        const page = await store.list({ ...QUERY, history: undefined, ...options });
        const expected = [await store.get(taskId(2), options), await store.get(taskId(1), options)];
        assert.deepEqual(page.tasks, expected);
      }
    },
  },
  {
    name: "lists no task of another scope, and nothing for an unknown scope",
    async run({ store, settle }) {
      await store.commit([createOf(taskId(1)), createOf(taskId(2), { scope: { ...SCOPE, tenant: "t" } })]);
      await settle();
      for (const [scope, count] of [
        [SCOPE, 1],
        [{ ...SCOPE, tenant: "t" }, 1],
        [{ ...SCOPE, owner: "nobody" }, 0],
      ] as const) {
        const page = await store.list({ ...QUERY, scope });
        assert.equal(page.tasks.length, count);
        assert.equal(page.total, count);
        assert.equal(page.next, undefined);
      }
    },
  },
  {
    name: "counts tasks whose status has the given time or a later one, to the millisecond",
    async run({ store, settle }) {
      const times = [0, 1, 1, 2, 1023, 1024, 65_536, 4_194_304, 300_000_000];
      await store.commit(
        times.map((at, index) => createOf(taskId(index), {}, { head: headOf("working", { statusAt: START + at }) })),
      );
      await settle();
      for (const since of [
        -1, 0, 1, 2, 3, 1000, 1023, 1024, 1025, 70_000, 4_194_304, 299_999_999, 300_000_000, 300_000_001,
      ]) {
        const expected = times.filter((at) => at >= since).length;
        const page = await store.list({ ...QUERY, statusSince: START + since, limit: 2 });
        assert.equal(page.total, expected, `since ${since}`);
        assert.equal((await readPages(store, { ...QUERY, statusSince: START + since, limit: 2 })).length, expected);
      }
    },
  },
  {
    name: "counts all tasks of a context, even if the first task was created without a context id from the caller",
    async run({ store, settle }) {
      const context = contextId(7);
      await store.commit([createOf(taskId(1), { contextId: context })]);
      const count = async (details: Partial<ListQuery> = {}): Promise<number> => {
        await settle();
        return (await store.list({ ...QUERY, contextId: context, ...details })).total;
      };
      assert.equal(await count(), 1);
      assert.equal(await count({ state: "completed" }), 0);
      await store.commit([createOf(taskId(2), { contextId: context, contextShared: true })]);
      assert.equal(await count(), 2);
      await store.commit([
        writeOf(taskId(1), { end: endOf(2) }),
        createOf(taskId(3), { contextId: context, contextShared: true }),
      ]);
      assert.equal(await count(), 3);
      assert.equal(await count({ state: "completed" }), 1);
      assert.equal(await count({ state: "working" }), 2);
      assert.equal(await count({ state: "working", statusSince: START + 1 }), 0);
      assert.equal((await store.list({ ...QUERY, contextId: contextId(8) })).total, 0);
      assert.equal((await store.list({ ...QUERY, scope: { ...SCOPE, owner: "eve" }, contextId: context })).total, 0);
    },
  },
  {
    name: "lists every unchanged task exactly once while other tasks are created, change and end",
    async run({ store }) {
      const still = Array.from({ length: 30 }, (_, index) => taskId(index));
      const moving = Array.from({ length: 10 }, (_, index) => taskId(100 + index));
      let at = START;
      const head = (): { head: ReturnType<typeof headOf> } => ({ head: headOf("working", { statusAt: at++ }) });
      for (const [index, id] of still.entries()) {
        const other = moving[index];
        await store.commit([createOf(id, {}, head()), ...(other === undefined ? [] : [createOf(other, {}, head())])]);
      }
      let step = 0;
      const read = await readPages(store, { ...QUERY, limit: 4 }, async () => {
        const id = moving[step++ % moving.length];
        if (id === undefined) return;
        const seq = ((await store.positions([id]))[0]?.seq ?? 0) + 1;
        await store.commit([
          step % 3 === 0
            ? writeOf(id, { end: endOf(seq, { head: headOf("completed", { statusAt: at++ }) }) })
            : writeOf(id, { entries: [statusEntry(seq)], ...head() }),
          createOf(taskId(200 + step), {}, head()),
        ]);
      });
      const seen = read.map((task) => task.id).filter((id) => still.includes(id));
      assert.deepEqual(seen, still.toReversed());
    },
  },
];
