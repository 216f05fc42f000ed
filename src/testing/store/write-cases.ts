import assert from "node:assert/strict";
import type { Store } from "../../store/contract.ts";
import {
  chunkEntry,
  claimOf,
  createOf,
  endOf,
  headOf,
  NODE,
  postOf,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "../store-operations.ts";
import { outcomes, recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

async function historyOf(store: Store, id = T): Promise<string[]> {
  return (await recordOf(store, id)).history.map((entry) => `${entry.after}:${entry.body}:${entry.inbox ?? ""}`);
}

async function seqsOf(store: Store, id = T): Promise<number[]> {
  return (await store.log(id, 0, 1e9)).map((entry) => entry.seq);
}

export const storeWriteCases: readonly StoreCase[] = [
  {
    name: "stores every field of a new task",
    async run({ store }) {
      const head = headOf("working", { metadata: '{"a":1}', runner: '{"attempt":1}', wakeAt: START + 5 });
      const history = [{ after: 0, body: '{"messageId":"m"}' }];
      assert.deepEqual(await store.commit([createOf(T, {}, { head, history })]), [{ status: "ok" }]);
      assert.deepEqual(await recordOf(store), {
        id: T,
        contextId: "context-1",
        scope: { agent: "echo", tenant: "", owner: "ada" },
        dialect: "1.0/jsonrpc",
        createdAt: START,
        head,
        seq: 1,
        firstSeq: 1,
        epoch: 1,
        node: NODE,
        history,
      });
      assert.deepEqual(await store.log(T, 0, 1000), [statusEntry(1)]);
    },
  },
  {
    name: "stores a task that begins and ends in one commit, and releases its lease",
    async run({ store }) {
      const history = [{ after: 0, body: '{"messageId":"m"}' }];
      const end = endOf(3, {
        artifacts: '[{"artifactId":"result"}]',
        history: [{ after: 3, body: '{"messageId":"bye"}' }],
      });
      const write = createOf(
        T,
        {},
        { entries: [statusEntry(1), chunkEntry(2, "hi", false)], history, end, release: true },
      );
      assert.deepEqual(await outcomes(store, write), ["ok"]);
      const record = await recordOf(store);
      assert.deepEqual(record.head, end.head);
      assert.equal(record.seq, 3);
      assert.equal(record.node, undefined);
      assert.equal(record.epoch, 1);
      assert.equal(record.artifacts, end.artifacts);
      assert.deepEqual(record.history, [...history, ...end.history]);
      assert.deepEqual(await store.log(T, 0, 1000), [...write.entries, end.entry]);
      assert.deepEqual(await store.log(T, 1, 1000), [chunkEntry(2, "hi", false), end.entry]);
      assert.deepEqual(await store.positions([T]), [{ id: T, seq: 3, ended: true }]);
    },
  },
  {
    name: "creates only one task per id, even after that task has ended",
    async run({ store }) {
      assert.deepEqual(await outcomes(store, createOf(T), createOf(T)), ["ok", "duplicate"]);
      assert.deepEqual(await outcomes(store, createOf(T)), ["duplicate"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { end: endOf(2) }), createOf(T)), ["ok", "duplicate"]);
      assert.deepEqual(await seqsOf(store), [1, 2]);
    },
  },
  {
    name: "refuses a log that does not begin at 1, or a first epoch other than 1",
    async run({ store }) {
      assert.deepEqual(await outcomes(store, createOf(T, {}, { entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, createOf(T, {}, { end: endOf(3) })), ["fenced"]);
      assert.deepEqual(await outcomes(store, createOf(T, {}, { epoch: 2 })), ["fenced"]);
      assert.equal(await store.get(T, { artifacts: false }), undefined);
      assert.deepEqual(await outcomes(store, createOf(T)), ["ok"]);
    },
  },
  {
    name: "refuses a write whose entries leave a gap or repeat a seq, and applies no part of it",
    async run({ store }) {
      await store.commit([createOf(T), postOf(T, { id: "m" })]);
      const rest = {
        head: headOf("failed"),
        history: [{ after: 1, body: "{}" }],
        taken: ["m"],
        steps: [{ key: "k", value: "1" }],
      };
      for (const entries of [
        [statusEntry(3)],
        [statusEntry(1)],
        [statusEntry(2), statusEntry(4)],
        [statusEntry(2), statusEntry(2)],
        [statusEntry(0)],
      ]) {
        assert.deepEqual(await outcomes(store, writeOf(T, { ...rest, entries, release: true })), ["fenced"]);
      }
      assert.deepEqual(await outcomes(store, writeOf(T, { ...rest, end: endOf(3) })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { ...rest, entries: [statusEntry(2)], end: endOf(2) })), [
        "fenced",
      ]);
      const record = await recordOf(store);
      assert.equal(record.head.state, "working");
      assert.equal(record.node, NODE);
      assert.deepEqual(record.history, []);
      assert.deepEqual(await store.steps(T), []);
      assert.equal((await store.inbox(T)).length, 1);
      assert.deepEqual(await seqsOf(store), [1]);
    },
  },
  {
    name: "refuses a stale or a future epoch and accepts the current one",
    async run({ store }) {
      await store.commit([createOf(T), claimOf(T, "node-2", true)]);
      assert.deepEqual(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 3, entries: [statusEntry(2)] })), ["fenced"]);
      assert.deepEqual(await outcomes(store, writeOf(T, { epoch: 2, entries: [statusEntry(2)] })), ["ok"]);
    },
  },
  {
    name: "answers not-found for a task that was never created",
    async run({ store }) {
      const operations = [writeOf(T, { entries: [statusEntry(1)] }), postOf(T, { id: "m" }), claimOf(T, NODE, true)];
      assert.deepEqual(await outcomes(store, ...operations), ["not-found", "not-found", "not-found"]);
      assert.equal(await store.get(T, { artifacts: true }), undefined);
      assert.deepEqual(await store.log(T, 0, 100), []);
      assert.deepEqual(await store.inbox(T), []);
      assert.deepEqual(await store.steps(T), []);
    },
  },
  {
    name: "leaves the head unchanged if a write has only chunks",
    async run({ store }) {
      const head = headOf("working", { runner: '{"n":1}', wakeAt: START + 9, metadata: "{}" });
      await store.commit([createOf(T, {}, { head })]);
      for (let seq = 2; seq < 30; seq++) await store.commit([writeOf(T, { entries: [chunkEntry(seq, "x")] })]);
      const record = await recordOf(store);
      assert.deepEqual(record.head, head);
      assert.equal(record.seq, 29);
      assert.deepEqual(await store.positions([T]), [{ id: T, seq: 29, ended: false }]);
    },
  },
  {
    name: "replaces the whole head, and drops fields that the new one omits",
    async run({ store }) {
      await store.commit([createOf(T, {}, { head: headOf("working", { metadata: "{}", wakeAt: START }) })]);
      const head = headOf("input-required", { statusAt: START + 7, runner: '{"b":2}' });
      await store.commit([writeOf(T, { entries: [statusEntry(2, "input-required")], head })]);
      assert.deepEqual((await recordOf(store)).head, head);
    },
  },
  {
    name: "applies the other operations of a batch if one is refused",
    async run({ store }) {
      const other = taskId(2);
      const batch = [
        createOf(T),
        writeOf(taskId(9), { entries: [statusEntry(1)] }),
        createOf(other),
        writeOf(T, { entries: [statusEntry(5)] }),
        writeOf(T, { entries: [statusEntry(2)] }),
        createOf(T),
        writeOf(other, { epoch: 7 }),
        postOf(other, { id: "m" }, 0),
        writeOf(other, { entries: [statusEntry(2), statusEntry(3)] }),
      ];
      assert.deepEqual(await outcomes(store, ...batch), [
        "ok",
        "not-found",
        "ok",
        "fenced",
        "ok",
        "duplicate",
        "fenced",
        "full",
        "ok",
      ]);
      assert.deepEqual(await seqsOf(store), [1, 2]);
      assert.deepEqual(await seqsOf(store, other), [1, 2, 3]);
    },
  },
  {
    name: "applies commits that are under way at the same time, in any order, if they do not depend on each other",
    async run({ store }) {
      const tasks = Array.from({ length: 40 }, (_, index) => taskId(index));
      const calls = tasks.map((task) => store.commit([createOf(task), writeOf(task, { entries: [statusEntry(2)] })]));
      for (const outcome of (await Promise.all(calls)).flat()) assert.deepEqual(outcome, { status: "ok" });
      for (const task of tasks) assert.deepEqual(await seqsOf(store, task), [1, 2]);
    },
  },
  {
    name: "applies a batch in order: a post before the end joins the history, a post after it is refused",
    async run({ store }) {
      const other = taskId(2);
      await store.commit([createOf(T), createOf(other)]);
      assert.deepEqual(await outcomes(store, postOf(T, { id: "m" }), writeOf(T, { end: endOf(2) })), ["ok", "ok"]);
      assert.deepEqual(await outcomes(store, writeOf(other, { end: endOf(2) }), postOf(other, { id: "m" })), [
        "ok",
        "ended",
      ]);
      assert.deepEqual(await historyOf(store), ['1:{"messageId":"m"}:m']);
      assert.deepEqual(await historyOf(store, other), []);
    },
  },
  {
    name: "refuses the conditional end while a message waits, and applies the rest of the write",
    async run({ store }) {
      await store.commit([createOf(T), postOf(T, { id: "a" }), postOf(T, { id: "b" })]);
      const write = writeOf(T, {
        entries: [chunkEntry(2, "x", false)],
        head: headOf("working", { runner: '{"turn":2}' }),
        history: [{ after: 2, body: "{}", inbox: "a" }],
        taken: ["a"],
        steps: [{ key: "k", value: "1" }],
        end: endOf(3, { unlessInbox: true, history: [{ after: 3, body: '"never"' }], artifacts: "[]" }),
      });
      assert.deepEqual(await outcomes(store, write), ["inbox"]);
      const record = await recordOf(store);
      assert.equal(record.head.runner, '{"turn":2}');
      assert.equal(record.head.state, "working");
      assert.equal(record.seq, 2);
      assert.equal(record.node, NODE);
      assert.equal(record.artifacts, undefined);
      assert.deepEqual(await historyOf(store), ["2:{}:a"]);
      assert.deepEqual(await store.steps(T), [{ key: "k", value: "1" }]);
      assert.deepEqual(
        (await store.inbox(T)).map((entry) => entry.id),
        ["b"],
      );
      const again = writeOf(T, { taken: ["b"], end: endOf(3, { unlessInbox: true }) });
      assert.deepEqual(await outcomes(store, again), ["ok"]);
      assert.deepEqual(await seqsOf(store), [1, 2, 3]);
    },
  },
  {
    name: "releases the lease even if it refuses the conditional end",
    async run({ store }) {
      await store.commit([createOf(T), postOf(T, { id: "a" })]);
      assert.deepEqual(await outcomes(store, writeOf(T, { release: true, end: endOf(2, { unlessInbox: true }) })), [
        "inbox",
      ]);
      assert.equal((await recordOf(store)).node, undefined);
    },
  },
  {
    name: "ends conditionally despite a waiting cancel, but not despite a sealed message",
    async run({ store }) {
      const other = taskId(2);
      await store.commit([
        createOf(T),
        postOf(T, { id: "c", kind: "cancel" }),
        createOf(other),
        postOf(other, { id: "s", sealed: true }),
      ]);
      assert.deepEqual(await outcomes(store, writeOf(T, { end: endOf(2, { unlessInbox: true }) })), ["ok"]);
      assert.deepEqual(await outcomes(store, writeOf(other, { end: endOf(2, { unlessInbox: true }) })), ["inbox"]);
      assert.deepEqual(await historyOf(store), []);
    },
  },
  {
    name: "moves waiting messages into the history at the end, in order, except sealed messages and cancels",
    async run({ store }) {
      await store.commit([
        createOf(T, {}, { history: [{ after: 0, body: '"first"' }] }),
        postOf(T, { id: "a" }),
        postOf(T, { id: "s", sealed: true, body: '"secret"' }),
        postOf(T, { id: "c", kind: "cancel" }),
        postOf(T, { id: "b" }),
        postOf(T, { id: "t" }),
      ]);
      const end = endOf(3, { history: [{ after: 3, body: '"bye"' }] });
      const write = writeOf(T, {
        entries: [statusEntry(2)],
        history: [{ after: 2, body: '"own"' }],
        taken: ["t"],
        end,
      });
      assert.deepEqual(await outcomes(store, write), ["ok"]);
      assert.deepEqual(await historyOf(store), [
        '0:"first":',
        '2:"own":',
        '2:{"messageId":"a"}:a',
        '2:{"messageId":"b"}:b',
        '3:"bye":',
      ]);
      assert.deepEqual(await store.inbox(T), []);
    },
  },
  {
    name: "answers every operation after the end with ended, at every epoch",
    async run({ store }) {
      await store.commit([createOf(T), writeOf(T, { end: endOf(2) })]);
      const batch = [
        writeOf(T, { entries: [statusEntry(3)] }),
        writeOf(T, { epoch: 5 }),
        writeOf(T, { end: endOf(3) }),
        postOf(T, { id: "m" }),
        postOf(T, { id: "c", kind: "cancel" }),
        claimOf(T, NODE),
        claimOf(T, NODE, true),
      ];
      assert.deepEqual(
        await outcomes(store, ...batch),
        Array.from(batch, () => "ended"),
      );
      const record = await recordOf(store);
      assert.equal(record.epoch, 1);
      assert.equal(record.node, undefined);
      assert.deepEqual(await seqsOf(store), [1, 2]);
    },
  },
  {
    name: "keeps posts in order of arrival until a write consumes them",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const posts = [
        postOf(T, { id: "b", at: START + 1 }),
        postOf(T, { id: "c", kind: "cancel", at: START }),
        postOf(T, { id: "a", sealed: true }),
      ];
      assert.deepEqual(
        await store.commit(posts),
        posts.map(() => ({ status: "ok", node: NODE })),
      );
      assert.deepEqual(
        await store.inbox(T),
        posts.map((post) => post.entry),
      );
      await store.commit([writeOf(T, { taken: ["c", "b", "unknown"] })]);
      assert.deepEqual(
        await store.inbox(T),
        posts.slice(2).map((post) => post.entry),
      );
    },
  },
  {
    name: "refuses a message, but never a cancel, while maxWaiting messages wait, and accepts messages again once one is consumed",
    async run({ store }) {
      await store.commit([createOf(T)]);
      const batch = [
        postOf(T, { id: "c1", kind: "cancel" }, 2),
        postOf(T, { id: "a" }, 2),
        postOf(T, { id: "b" }, 2),
        postOf(T, { id: "d" }, 2),
        postOf(T, { id: "c2", kind: "cancel" }, 0),
      ];
      assert.deepEqual(await outcomes(store, ...batch), ["ok", "ok", "ok", "full", "ok"]);
      await store.commit([writeOf(T, { taken: ["a", "c1"] })]);
      assert.deepEqual(await outcomes(store, postOf(T, { id: "d" }, 2), postOf(T, { id: "e" }, 2)), ["ok", "full"]);
      assert.deepEqual(
        (await store.inbox(T)).map((entry) => entry.id),
        ["b", "c2", "d"],
      );
    },
  },
  {
    name: "accepts only one waiting inbox entry per id",
    async run({ store }) {
      await store.commit([createOf(T)]);
      assert.deepEqual(await outcomes(store, postOf(T, { id: "a" }), postOf(T, { id: "a" })), ["ok", "duplicate"]);
      assert.equal((await store.inbox(T)).length, 1);
    },
  },
  {
    name: "answers a post with the node that has the lease, or with no node if the lease is free",
    async run({ store }) {
      await store.commit([createOf(T)]);
      assert.deepEqual(
        await store.commit([postOf(T, { id: "a" }), claimOf(T, "node-2", true), postOf(T, { id: "b" })]),
        [
          { status: "ok", node: NODE },
          { status: "ok", epoch: 2 },
          { status: "ok", node: "node-2" },
        ],
      );
      await store.commit([writeOf(T, { epoch: 2, release: true })]);
      assert.deepEqual(await store.commit([postOf(T, { id: "c" })]), [{ status: "ok" }]);
    },
  },
  {
    name: "keeps the latest value of each step key until a write forgets the steps",
    async run({ store }) {
      const step = (key: string, value: string): { key: string; value: string } => ({ key, value });
      await store.commit([createOf(T, {}, { steps: [step("a", "1"), step("b", "2")] })]);
      await store.commit([writeOf(T, { steps: [step("a", "3"), step("c", "4")] })]);
      const steps = (await store.steps(T)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
      assert.deepEqual(steps, [step("a", "3"), step("b", "2"), step("c", "4")]);
      await store.commit([writeOf(T, { forgetSteps: true, steps: [step("d", "5")] })]);
      assert.deepEqual(await store.steps(T), [step("d", "5")]);
      await store.commit([writeOf(T, { forgetSteps: true })]);
      assert.deepEqual(await store.steps(T), []);
    },
  },
  {
    name: "forgets the steps of a task when it ends",
    async run({ store }) {
      await store.commit([createOf(T, {}, { steps: [{ key: "a", value: "1" }] })]);
      await store.commit([writeOf(T, { steps: [{ key: "b", value: "1" }], end: endOf(2) })]);
      assert.deepEqual(await store.steps(T), []);
    },
  },
  {
    name: "stores the notes of log entries",
    async run({ store }) {
      const entries = [
        statusEntry(1),
        { ...chunkEntry(2, "tab\tand\nline", false), note: '{"step":"a"}' },
        chunkEntry(3, "é🙂 "),
      ];
      await store.commit([createOf(T, {}, { entries })]);
      assert.deepEqual(await store.log(T, 0, 10_000), entries);
      const end = { ...endOf(5), entry: { ...statusEntry(5, "completed"), note: "n" } };
      await store.commit([writeOf(T, { entries: [chunkEntry(4, "")], end })]);
      assert.deepEqual(await store.log(T, 0, 10_000), [...entries, chunkEntry(4, ""), end.entry]);
    },
  },
  {
    name: "accepts an empty batch and an empty write",
    async run({ store }) {
      assert.deepEqual(await store.commit([]), []);
      await store.commit([createOf(T)]);
      assert.deepEqual(await outcomes(store, writeOf(T)), ["ok"]);
      assert.deepEqual(await seqsOf(store), [1]);
    },
  },
  {
    name: "stores texts with any characters, and texts of 1 MB",
    async run({ store }) {
      const text = `\u0000"'\\;--%_\u{1F600}${"x".repeat(1_000_000)}`;
      const scope = { agent: "a'b", tenant: "tenant\n\t", owner: "%_\u0000'" };
      const write = createOf(
        T,
        { scope, messageId: "m\u0000'\"" },
        { entries: [chunkEntry(1, text, false)], history: [{ after: 0, body: JSON.stringify(text) }] },
      );
      assert.deepEqual(await outcomes(store, write), ["ok"]);
      const record = await store.get(T, { scope, artifacts: true });
      assert.deepEqual(record?.scope, scope);
      assert.deepEqual(record?.history, write.history);
      assert.deepEqual(await store.log(T, 0, 1), write.entries);
      assert.equal((await store.findByMessage(scope, "m\u0000'\""))?.task, T);
    },
  },
];
