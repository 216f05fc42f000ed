import assert from "node:assert/strict";
import type { LogEntry } from "../../store/contract.ts";
import { chunkEntry, createOf, endOf, SCOPE, statusEntry, taskId, writeOf } from "../store-operations.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

export const storeReadCases: readonly StoreCase[] = [
  {
    name: "returns a task only within its scope, and always if no scope is given",
    async run({ store }) {
      await store.commit([createOf(T)]);
      assert.equal((await store.get(T, { artifacts: false, scope: { ...SCOPE } }))?.id, T);
      for (const other of [{ agent: "other" }, { tenant: "other" }, { owner: "other" }]) {
        assert.equal(await store.get(T, { artifacts: false, scope: { ...SCOPE, ...other } }), undefined);
      }
      assert.equal((await store.get(T, { artifacts: false }))?.id, T);
    },
  },
  {
    name: "returns the requested history: all, none, the last n messages, or up to a seq",
    async run({ store }) {
      const message = (after: number): { after: number; body: string } => ({ after, body: `{"n":${after}}` });
      await store.commit([createOf(T, {}, { history: [message(0)], entries: [statusEntry(1), statusEntry(2)] })]);
      await store.commit([writeOf(T, { history: [message(2)] })]);
      await store.commit([
        writeOf(T, { history: [message(3), message(4)], entries: [statusEntry(3), statusEntry(4)] }),
      ]);
      await store.commit([writeOf(T, { end: endOf(5, { history: [message(5)] }) })]);
      const read = async (options: { history?: number | undefined; upTo?: number }): Promise<number[]> => {
        const record = await store.get(T, { artifacts: false, ...options });
        return record?.history.map((entry) => entry.after) ?? [];
      };
      assert.deepEqual(await read({}), [0, 2, 3, 4, 5]);
      assert.deepEqual(await read({ history: undefined }), [0, 2, 3, 4, 5]);
      assert.deepEqual(await read({ history: 0 }), []);
      assert.deepEqual(await read({ history: 2 }), [4, 5]);
      assert.deepEqual(await read({ history: 99 }), [0, 2, 3, 4, 5]);
      assert.deepEqual(await read({ upTo: 3 }), [0, 2, 3]);
      assert.deepEqual(await read({ upTo: 3, history: 1 }), [3]);
      assert.deepEqual(await read({ upTo: 3, history: 3 }), [0, 2, 3]);
      assert.deepEqual(await read({ upTo: -1 }), []);
    },
  },
  {
    name: "returns a finished task as requested each time, however often it is read",
    async run({ store }) {
      const history = [0, 1, 2].map((after) => ({ after, body: `{"n":${after}}` }));
      const end = endOf(3, { artifacts: `[{"artifactId":"a","parts":[]}]` });
      await store.commit([createOf(T, {}, { history, entries: [statusEntry(1), statusEntry(2)], end })]);
      const whole = await store.get(T, { artifacts: true });
      assert.equal(whole?.artifacts, end.artifacts);
      for (let time = 0; time < 4; time += 1) {
        assert.deepEqual(await store.get(T, { artifacts: true, scope: SCOPE }), whole);
        assert.equal(await store.get(T, { artifacts: true, scope: { ...SCOPE, owner: "other" } }), undefined);
        assert.equal((await store.get(T, { artifacts: false }))?.artifacts, undefined);
        const last = await store.get(T, { artifacts: true, history: 1, largeBytes: 1e6 });
        assert.deepEqual(last, { ...whole, history: history.slice(-1) });
        const none = await store.get(T, { artifacts: true, history: 0 });
        assert.deepEqual(none, { ...whole, history: [] });
        const early = await store.get(T, { artifacts: true, upTo: 1 });
        assert.deepEqual(early?.history, history.slice(0, 2));
      }
    },
  },
  {
    name: "omits a history over largeBytes from the record, and returns it in pages with each message exactly once",
    async run({ store }) {
      const message = (after: number): { after: number; body: string } => ({
        after,
        body: `"${"m".repeat(1000)}${after}"`,
      });
      await store.commit([
        createOf(T, {}, { history: [message(0)], entries: [1, 2, 3, 4, 5].map((n) => statusEntry(n)) }),
      ]);
      await store.commit([writeOf(T, { history: [1, 2, 3, 4, 5].map(message) })]);
      const read = (options: { history?: number; upTo?: number }) =>
        store.get(T, { artifacts: false, largeBytes: 2500, ...options });
      const whole = await read({});
      assert.deepEqual([whole?.history, whole?.largeHistory], [[], { from: 0, to: 6 }]);
      assert.deepEqual((await read({ history: 3 }))?.largeHistory, { from: 3, to: 6 });
      assert.deepEqual((await read({ history: 3, upTo: 4 }))?.largeHistory, { from: 2, to: 5 });
      const small = await read({ history: 2 });
      assert.deepEqual([small?.history.length, small?.largeHistory], [2, undefined]);
      assert.equal((await read({ history: 0 }))?.largeHistory, undefined);
      for (const maxBytes of [1, 1500, 2500, 100_000]) {
        const found: unknown[] = [];
        for (;;) {
          const page = await store.history(T, found.length, maxBytes);
          if (page.length === 0) break;
          assert(page.length === 1 || page.reduce((sum, { body }) => sum + body.length, 0) <= maxBytes);
          found.push(...page);
        }
        assert.deepEqual(found, [0, 1, 2, 3, 4, 5].map(message));
      }
      assert.deepEqual(await store.history(taskId(99), 0, 100), []);
    },
  },
  {
    name: "omits artifacts over largeBytes from the record while the log still contains their chunks",
    async run({ store }) {
      const artifacts = JSON.stringify([{ artifactId: "a".repeat(1000) }]);
      await store.commit([createOf(T, {}, { end: endOf(2, { artifacts }) })]);
      const record = await store.get(T, { artifacts: true, largeBytes: 500 });
      assert(record !== undefined && !("artifacts" in record));
      assert.equal((await store.get(T, { artifacts: true, largeBytes: 5000 }))?.artifacts, artifacts);
    },
  },
  {
    name: "returns artifacts only on request",
    async run({ store }) {
      await store.commit([createOf(T, {}, { end: endOf(2, { artifacts: '[{"artifactId":"a"}]' }) })]);
      assert.equal((await store.get(T, { artifacts: true }))?.artifacts, '[{"artifactId":"a"}]');
      const without = await store.get(T, { artifacts: false });
      assert(without !== undefined && !("artifacts" in without));
    },
  },
  {
    name: "returns the log in pages of maxBytes: at least one entry per page, each entry exactly once, from any cursor",
    async run({ store }) {
      const entries: LogEntry[] = [statusEntry(1)];
      await store.commit([createOf(T)]);
      for (let seq = 2; seq <= 60; seq += 3) {
        const chunk = [0, 1, 2].map((offset) =>
          chunkEntry(seq + offset, "y".repeat((seq * 37) % 500), seq + offset > 2),
        );
        entries.push(...chunk);
        await store.commit([writeOf(T, { entries: chunk })]);
      }
      const readAll = async (after: number, maxBytes: number): Promise<LogEntry[]> => {
        const read: LogEntry[] = [];
        for (let cursor = after; ; ) {
          const page = await store.log(T, cursor, maxBytes);
          const last = page.at(-1);
          if (last === undefined) return read;
          if (page.length > 1) assert(page.reduce((sum, entry) => sum + entry.body.length, 0) <= maxBytes + 1000);
          read.push(...page);
          cursor = last.seq;
        }
      };
      const checkAll = async (): Promise<void> => {
        for (const maxBytes of [0, 1, 700, 5000, 1e9]) assert.deepEqual(await readAll(0, maxBytes), entries);
        for (const after of [1, 2, 17, 60]) assert.deepEqual(await readAll(after, 900), entries.slice(after));
        assert.deepEqual(await store.log(T, entries.length, 100), []);
        assert.deepEqual(await store.log(T, entries.length + 10, 100), []);
      };
      await checkAll();
      assert.equal((await store.log(T, 0, 1)).length, 1);
      const end = endOf(entries.length + 1);
      entries.push(end.entry);
      await store.commit([writeOf(T, { end })]);
      await checkAll();
    },
  },
  {
    name: "keeps every entry of a log of thousands of commits, read while it grows and after the task ends",
    async run({ store }) {
      await store.commit([createOf(T)]);
      let seq = 1;
      for (let round = 0; round < 30; round++) {
        const reading = store.log(T, 0, 1e9);
        for (let count = 0; count < 50; count++) {
          seq += 2;
          const entries = [chunkEntry(seq - 1, `c${seq - 1}`, seq > 3), chunkEntry(seq, `c${seq}`)];
          assert.deepEqual(await store.commit([writeOf(T, { entries })]), [{ status: "ok" }]);
        }
        for (const [index, entry] of (await reading).entries()) assert.equal(entry.seq, index + 1);
        const tail = await store.log(T, seq - 5, 1e9);
        assert.deepEqual(
          tail.map((entry) => entry.seq),
          [seq - 4, seq - 3, seq - 2, seq - 1, seq],
        );
      }
      await store.commit([writeOf(T, { end: endOf(seq + 1) })]);
      const whole = await store.log(T, 0, 1e9);
      assert.equal(whole.length, seq + 1);
      for (const [index, entry] of whole.entries()) {
        assert.equal(entry.seq, index + 1);
        if (index > 0 && index < seq) assert.equal(entry.body, chunkEntry(index + 1, `c${index + 1}`, index > 1).body);
      }
    },
  },
  {
    name: "finds the newest task that a message id created in its scope",
    async run({ store }) {
      await store.commit([
        createOf(taskId(1), { messageId: "m" }),
        createOf(taskId(2)),
        createOf(taskId(3), { messageId: "m", scope: { ...SCOPE, owner: "bob" } }),
      ]);
      assert.equal((await store.findByMessage(SCOPE, "m"))?.task, taskId(1));
      assert.equal((await store.findByMessage({ ...SCOPE, owner: "bob" }, "m"))?.task, taskId(3));
      assert.equal(await store.findByMessage({ ...SCOPE, owner: "eve" }, "m"), undefined);
      assert.equal(await store.findByMessage(SCOPE, "n"), undefined);
      await store.commit([createOf(taskId(4), { messageId: "m" }, { end: endOf(2) })]);
      assert.equal((await store.findByMessage(SCOPE, "m"))?.task, taskId(4));
    },
  },
  {
    name: "returns the positions of the known tasks",
    async run({ store }) {
      await store.commit([createOf(taskId(1)), createOf(taskId(2), {}, { end: endOf(2) })]);
      await store.commit([writeOf(taskId(1), { entries: [chunkEntry(2, "a", false), chunkEntry(3, "b")] })]);
      const positions = await store.positions([taskId(2), taskId(9), taskId(1)]);
      assert.deepEqual(
        positions.toSorted((a, b) => a.seq - b.seq),
        [
          { id: taskId(2), seq: 2, ended: true },
          { id: taskId(1), seq: 3, ended: false },
        ],
      );
      assert.deepEqual(await store.positions([]), []);
    },
  },
];
