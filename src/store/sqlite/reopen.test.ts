import { readdir } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { outcomes } from "../../testing/store/results.ts";
import {
  advanceOf,
  chunkEntry,
  claimWebhookOf,
  createOf,
  deleteWebhookOf,
  endOf,
  headOf,
  NODE,
  postOf,
  SCOPE,
  START,
  setWebhookOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../../testing/store-operations.ts";

const T = taskId(1);

describe("a reopened file", () => {
  test("contains all committed data", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.heartbeat(NODE, 1e9);
    const entries = [statusEntry(1), { ...chunkEntry(2, "a", false), note: "n" }];
    await store.commit([
      createOf(
        T,
        { messageId: "m" },
        { entries, history: [{ after: 0, body: "{}" }], steps: [{ key: "k", value: "1" }] },
      ),
      createOf(taskId(2), {}, { end: endOf(2, { artifacts: "[1]" }) }),
      postOf(T, { id: "waiting" }),
    ]);
    await store.commit([writeOf(T, { entries: [chunkEntry(3, "b")] })]);
    const before = [await store.get(T, { artifacts: true }), await store.get(taskId(2), { artifacts: true })];
    await store.close();

    const again = await trial.open();
    const { node, ...first } = before[0] ?? {};
    expect(node).toBe(NODE);
    expect(await again.get(T, { artifacts: true })).toEqual(first);
    expect(await again.get(taskId(2), { artifacts: true })).toEqual(before[1]);
    expect(await again.log(T, 0, 1e6)).toEqual([...entries, chunkEntry(3, "b")]);
    expect(await again.inbox(T)).toHaveLength(1);
    expect(await again.steps(T)).toEqual([{ key: "k", value: "1" }]);
    expect((await again.findByMessage(SCOPE, "m"))?.task).toBe(T);
    expect((await again.list({ scope: SCOPE, limit: 9, artifacts: false })).total).toBe(2);
  });

  test("has no leases, even for a node with the same name", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.heartbeat(NODE, 1e9);
    await store.commit([createOf(T)]);
    await store.close();
    const again = await trial.open();
    await again.heartbeat(NODE, 1e9);
    expect(await outcomes(again, writeOf(T, { entries: [statusEntry(2)] }))).toEqual(["fenced"]);
    const { tasks } = await again.claimDue({ node: NODE, agents: [SCOPE.agent], limit: 10 });
    expect(tasks).toMatchObject([{ id: T, epoch: 2 }]);
    expect(tasks[0]?.formerNode).toBeUndefined();
    expect(await outcomes(again, writeOf(T, { epoch: 2, entries: [statusEntry(2)] }))).toEqual(["ok"]);
  });

  test("has all webhooks with their cursors and without claims, even for a node with the same name", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.heartbeat(NODE, 1e9);
    await store.commit([
      createOf(T, { webhook: webhookOf("w"), messageId: "m", idempotency: { since: 0, digest: "d" } }),
      setWebhookOf(T, "v"),
      createOf(taskId(2), { webhook: webhookOf("u") }, { end: endOf(2) }),
    ]);
    const [claimed] = await store.commit([claimWebhookOf(T, "w"), claimWebhookOf(taskId(2), "u")]);
    const epoch = claimed?.status === "ok" ? (claimed.epoch ?? 0) : 0;
    await store.commit([
      advanceOf(T, "w", { epoch, cursor: 1, attempts: 3, nextAt: START + 5 }),
      deleteWebhookOf(T, "v"),
    ]);
    const before = [...(await store.webhooks(T)), ...(await store.webhooks(taskId(2)))];
    await store.close();

    const again = await trial.open();
    await again.heartbeat(NODE, 1e9);
    const after = [...(await again.webhooks(T)), ...(await again.webhooks(taskId(2)))];
    expect(after).toEqual(before.map(({ node: _, ...record }) => record));
    const taken = await again.claimWebhooks({ node: NODE, agents: [SCOPE.agent], limit: 9 });
    expect(taken).toHaveLength(2);
    expect(taken.find(({ webhook }) => webhook.id === "w")?.webhook.epoch).toBeGreaterThan(epoch);
    expect(await outcomes(again, advanceOf(T, "w", { epoch }))).toEqual(["fenced"]);
    expect(await again.findByMessage(SCOPE, "m")).toEqual({ task: T, createdAt: START, digest: "d" });
  });

  test("consists of the file and its lock file after closing", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.commit([createOf(T)]);
    await store.close();
    const left = await readdir(trial.folder.path);
    expect(left.filter((name) => !name.endsWith(".lock"))).toEqual(["store.db"]);
  });

  test("was closed after all earlier commits completed", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const commits = Array.from({ length: 20 }, (_, n) => store.commit([createOf(taskId(n))]));
    await store.close();
    for (const [outcome] of await Promise.all(commits)) expect(outcome).toEqual({ status: "ok" });
    const again = await trial.open();
    expect((await again.list({ scope: SCOPE, limit: 1, artifacts: false })).total).toBe(20);
  });
});

describe("retention", () => {
  test("counts the tasks of an earlier process, and a sweep deletes tasks over a lowered limit", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const ended = (n: number): ReturnType<typeof createOf> =>
      createOf(taskId(n), {}, { end: endOf(2, { head: headOf("completed", { statusAt: START + n }) }) });
    await store.commit(Array.from({ length: 10 }, (_, n) => ended(n)));
    await store.close();
    const again = await trial.open({ retention: { maxTasks: 4, pruneCount: 1 } });
    expect(await again.sweep()).toBe(6);
    expect(await again.positions([taskId(5), taskId(6)])).toHaveLength(1);
    expect(await outcomes(again, createOf(taskId(20)))).toEqual(["ok"]);
    expect((await again.list({ scope: SCOPE, limit: 1, artifacts: false })).total).toBe(4);
  });

  test("deletes all rows of a deleted task", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { maxTasks: 1 } });
    const idempotent = { messageId: "m", idempotency: { since: 0, digest: "d" } };
    const ended = { history: [{ after: 0, body: "{}" }], end: endOf(2, { artifacts: "[]" }) };
    const finish = async (task: TaskId): Promise<void> => {
      const [webhook] = await store.webhooks(task);
      await store.commit([advanceOf(task, "w", { epoch: webhook?.epoch ?? 0, cursor: 2, state: "suspended" })]);
    };
    expect(await outcomes(store, createOf(T, idempotent, ended))).toEqual(["ok"]);
    expect(await outcomes(store, createOf(taskId(2), { webhook: webhookOf("w") }, ended))).toEqual(["ok"]);
    await finish(taskId(2));
    expect(await outcomes(store, createOf(taskId(3), {}, ended), setWebhookOf(taskId(3), "w"))).toEqual(["ok", "ok"]);
    await finish(taskId(3));
    expect(await outcomes(store, createOf(taskId(4)))).toEqual(["ok"]);
    await store.close();
    const database = new DatabaseSync(trial.file);
    const rows = ["webhook", "sent", "message"].map((table) => database.prepare(`SELECT * FROM ${table}`).all());
    database.close();
    expect(rows).toEqual([[], [], []]);
  });

  test("can delete a task whose log is still in the hot log", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { maxTasks: 1 } });
    const batch = [createOf(T), writeOf(T, { end: endOf(2) }), createOf(taskId(2))];
    expect(await outcomes(store, ...batch)).toEqual(["ok", "ok", "ok"]);
    await store.close();
    const again = await trial.open();
    expect(await again.positions([T, taskId(2)])).toEqual([{ id: taskId(2), seq: 1, ended: false }]);
  });
});
