import assert from "node:assert/strict";
import type { TaskId } from "../../protocol/ids.ts";
import type { InboxPost, Outcome, Store } from "../../store/contract.ts";
import {
  createOf,
  endOf,
  NODE,
  postOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  uniquePostOf,
  webhookOf,
  writeOf,
} from "../store-operations.ts";
import { atOnce, commitAtOnce, ROUNDS, statusesOf } from "./at-once.ts";
import { recordOf } from "./results.ts";
import type { StoreCase } from "./store-case.ts";

async function inboxOf(store: Store, task: TaskId): Promise<string[]> {
  return (await store.inbox(task)).map(({ id }) => id);
}

/** Races of creates, posts and writes: rules 1, 4, 5, 6 and 9 of "What must be atomic" in the store contract, and the order of commits. */
export const taskRaceCases: readonly StoreCase[] = [
  {
    name: "race: a message is either in the inbox of a task that has not ended, or refused by a task that has",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        // Sealed messages count too.
        const post = postOf(task, { id: "m", sealed: round % 4 > 1 });
        const end = writeOf(task, { end: endOf(2, { unlessInbox: true }) });
        const [posted, ended] = await commitAtOnce(trial, round, [post, end]);
        if (ended.status === "ok") {
          assert.equal(posted.status, "ended");
          assert.deepEqual((await recordOf(store, task)).history, []);
        } else {
          assert.deepEqual([posted, ended], [{ status: "ok", node: NODE }, { status: "inbox" }]);
          assert.deepEqual(await inboxOf(store, task), ["m"]);
          assert.equal((await recordOf(store, task)).seq, 1);
        }
      }
    },
  },
  {
    name: "race: a message that is accepted while its task ends unconditionally is in the history",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const operations = [postOf(task, { id: "m" }), writeOf(task, { end: endOf(2) })] as const;
        const [posted, ended] = await commitAtOnce(trial, round, operations);
        assert.equal(ended.status, "ok");
        const found = (await recordOf(store, task)).history.map(({ inbox }) => inbox);
        assert.deepEqual([posted.status, found], posted.status === "ok" ? ["ok", ["m"]] : ["ended", []]);
        assert.deepEqual(await inboxOf(store, task), []);
      }
    },
  },
  {
    name: "race: of two creates with one task id, one creates the task and the other is a duplicate",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        const create = (owner: string): ReturnType<typeof createOf> =>
          createOf(task, { scope: { ...SCOPE, owner }, webhook: webhookOf(owner) });
        const found = await commitAtOnce(trial, round, [create("ada"), create("bob")]);
        assert.deepEqual(statusesOf(found), ["duplicate", "ok"]);
        const winner = found[0].status === "ok" ? "ada" : "bob";
        assert.equal((await recordOf(store, task)).scope.owner, winner);
        assert.deepEqual(
          (await store.webhooks(task)).map(({ id }) => id),
          [winner],
        );
        assert.equal((await store.log(task, 0, 1e6)).length, 1);
      }
    },
  },
  {
    name: "race: of two creates with one idempotent message, one creates a task and the other is answered with its id",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const messageId = `m${round}`;
        // In every other round the two have the same task id as well.
        const ids = [taskId(2 * round), taskId(round % 2 === 0 ? 2 * round : 2 * round + 1)] as const;
        const create = (task: TaskId): ReturnType<typeof createOf> =>
          createOf(task, { messageId, idempotency: { since: START, digest: "d" } });
        const found = await commitAtOnce(trial, round, [create(ids[0]), create(ids[1])]);
        assert.deepEqual(statusesOf(found), ["ok", "repeated"]);
        const winner = found[0].status === "ok" ? ids[0] : ids[1];
        const repeated = found.find(({ status }) => status === "repeated");
        assert.deepEqual(repeated, { status: "repeated", task: winner });
        assert.equal((await store.findByMessage(SCOPE, messageId))?.task, winner);
        assert.deepEqual(
          (await store.positions([...new Set(ids)])).map(({ id }) => id),
          [winner],
        );
      }
    },
  },
  {
    name: "race: of two posts with one entry id, one is stored and the other is a duplicate",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const post = postOf(task, { id: "m", kind: round % 4 > 1 ? "cancel" : "message" });
        assert.deepEqual(statusesOf(await commitAtOnce(trial, round, [post, post])), ["duplicate", "ok"]);
        assert.deepEqual(await inboxOf(store, task), ["m"]);
      }
    },
  },
  {
    name: "race: of two posts with one unique prefix and different ids, one is stored and the other is a duplicate",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const posts = [uniquePostOf(task, "m:1", "m:"), uniquePostOf(task, "m:2", "m:")] as const;
        const found = await commitAtOnce(trial, round, posts);
        assert.deepEqual(statusesOf(found), ["duplicate", "ok"]);
        assert.deepEqual(await inboxOf(store, task), [found[0].status === "ok" ? "m:1" : "m:2"]);
      }
    },
  },
  {
    name: "race: at most maxWaiting messages wait, however many are posted at the same time",
    async run({ store, second }) {
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task), postOf(task, { id: "first" })]);
        const posts = Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : second).commit([postOf(task, { id: `m${index}` }, 4)]),
        );
        const found = (await Promise.all(posts)).flat();
        assert.deepEqual(statusesOf(found), ["full", "full", "full", "full", "full", "ok", "ok", "ok"]);
        const accepted = found.flatMap(({ status }, index) => (status === "ok" ? [`m${index}`] : []));
        assert.deepEqual((await inboxOf(store, task)).sort(), ["first", ...accepted]);
      }
    },
  },
  {
    name: "race: of two posts with one expectedSeq, one is stored and the other is refused as changed",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const post = (id: string): InboxPost => ({ ...postOf(task, { id }), expectedSeq: 1 });
        const found = await commitAtOnce(trial, round, [post("a"), post("b")]);
        assert.deepEqual(statusesOf(found), ["changed", "ok"]);
        assert.deepEqual(await inboxOf(store, task), [found[0].status === "ok" ? "a" : "b"]);
      }
    },
  },
  {
    name: "race: a post with expectedSeq is stored before a write with events, or refused",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const post: InboxPost = { ...postOf(task, { id: "m" }), expectedSeq: 1 };
        const end = writeOf(task, { end: endOf(2, { unlessInbox: true }) });
        const [posted, ended] = await commitAtOnce(trial, round, [post, end]);
        // The end is refused by a message that waits, and the message by the event of the end: never both, never neither.
        const pair = [posted.status, ended.status];
        assert.deepEqual(pair, posted.status === "ok" ? ["ok", "inbox"] : ["changed", "ok"]);
        assert.deepEqual(await inboxOf(store, task), posted.status === "ok" ? ["m"] : []);
      }
    },
  },
  {
    name: "race: of two writes that continue the log at the same seq, one is applied as a whole and nothing of the other",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const write = (key: string, count: number): ReturnType<typeof writeOf> => {
          const entries = Array.from({ length: count }, (_, index) => ({ ...statusEntry(2 + index), note: key }));
          return writeOf(task, { entries, steps: [{ key, value: "1" }], history: [{ after: 1, body: `"${key}"` }] });
        };
        const found = await commitAtOnce(trial, round, [write("a", 1), write("b", 2)]);
        assert.deepEqual(statusesOf(found), ["fenced", "ok"]);
        const winner = found[0].status === "ok" ? "a" : "b";
        const notes = (await store.log(task, 1, 1e6)).map(({ note }) => note);
        assert.deepEqual(notes, winner === "a" ? ["a"] : ["b", "b"]);
        assert.deepEqual(await store.steps(task), [{ key: winner, value: "1" }]);
        assert.deepEqual(
          (await recordOf(store, task)).history.map(({ body }) => body),
          [`"${winner}"`],
        );
      }
    },
  },
  {
    name: "race: of a write and an end that continue the log at the same seq, one is applied",
    async run(trial) {
      const { store } = trial;
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        await store.commit([createOf(task)]);
        const operations = [writeOf(task, { entries: [statusEntry(2)] }), writeOf(task, { end: endOf(2) })] as const;
        const [written, ended] = await commitAtOnce(trial, round, operations);
        assert.deepEqual([written.status, ended.status], ended.status === "ok" ? ["ended", "ok"] : ["ok", "fenced"]);
        assert.deepEqual(await store.positions([task]), [{ id: task, seq: 2, ended: ended.status === "ok" }]);
      }
    },
  },
  {
    name: "race: of two commits with one key, one is applied and both have its outcomes",
    async run({ store, second }) {
      for (let round = 0; round < ROUNDS; round++) {
        const task = taskId(round);
        const key = { writer: "w", n: round };
        const operations = [createOf(task), postOf(task, { id: "m" }), writeOf(task, { entries: [statusEntry(2)] })];
        const commit = (handle: Store): Promise<readonly Outcome[]> => handle.commit(operations, key);
        const found = await atOnce(
          round,
          () => commit(store),
          () => commit(second),
        );
        const expected = [{ status: "ok" }, { status: "ok", node: NODE }, { status: "ok" }];
        assert.deepEqual(found, [expected, expected]);
        assert.equal((await recordOf(store, task)).seq, 2);
      }
    },
  },
  {
    name: "race: commits with the same tasks in opposite order do not block each other",
    async run({ store, second }) {
      const tasks = Array.from({ length: 10 }, (_, index) => taskId(index));
      await store.commit(tasks.map((task) => createOf(task)));
      for (let round = 0; round < ROUNDS; round++) {
        const posts = (id: string): ReturnType<typeof postOf>[] => tasks.map((task) => postOf(task, { id }));
        const found = await atOnce(
          round,
          () => store.commit(posts(`a${round}`)),
          () => second.commit(posts(`b${round}`).reverse()),
        );
        for (const outcome of found.flat()) assert.deepEqual(outcome, { status: "ok", node: NODE });
      }
      for (const task of tasks) assert.equal((await store.inbox(task)).length, 2 * ROUNDS);
    },
  },
];
