import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { outcomes } from "../../testing/store/results.ts";
import {
  advanceOf,
  chunkEntry,
  claimWebhookOf,
  createOf,
  endOf,
  headOf,
  NODE,
  postOf,
  SCOPE,
  setWebhookOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../../testing/store-operations.ts";

const T = taskId(1);

describe("when the database fails", () => {
  test.each(["busy", "full"] as const)("a %s commit has written nothing, and a retry succeeds", async (fault) => {
    await using trial = await sqliteTrial();
    let next: typeof fault | undefined;
    const store = await trial.open({ fault: () => next });
    await store.commit([createOf(T, {}, { entries: [statusEntry(1)] })]);
    const batch = [
      writeOf(T, { entries: [statusEntry(2)], head: headOf("input-required") }),
      createOf(taskId(2), { contextShared: true }),
      postOf(T, { id: "m" }),
    ];
    next = fault;
    await expect(store.commit(batch)).rejects.toMatchObject({ name: "StoreError", code: fault });
    expect(await store.positions([T, taskId(2)])).toEqual([{ id: T, seq: 1, ended: false }]);
    expect(await store.inbox(T)).toEqual([]);
    next = undefined;
    expect(await outcomes(store, ...batch)).toEqual(["ok", "ok", "ok"]);
    expect((await store.log(T, 0, 1e6)).map((entry) => entry.seq)).toEqual([1, 2]);
    expect((await store.list({ scope: SCOPE, state: "input-required", limit: 5, artifacts: false })).total).toBe(1);
  });

  test.each(["busy", "full"] as const)("a %s commit changes no webhook and stores no message id", async (fault) => {
    await using trial = await sqliteTrial();
    let next: typeof fault | undefined;
    const store = await trial.open({ fault: () => next, retention: { maxTasks: 5 } });
    await store.commit([createOf(T, { webhook: webhookOf("w") }), createOf(taskId(3), { webhook: webhookOf("w") })]);
    const before = [await store.webhooks(T), await store.webhooks(taskId(3))];
    const epoch = before[1]?.[0]?.epoch ?? 0;
    const idempotent = { messageId: "m", idempotency: { since: 0, digest: "d" } };
    const batch = [
      setWebhookOf(T, "v"),
      claimWebhookOf(T, "w"),
      advanceOf(taskId(3), "w", { epoch, cursor: 1, state: "suspended" }),
      createOf(taskId(2), { ...idempotent, webhook: webhookOf("w") }, { end: endOf(2) }),
      createOf(taskId(4), idempotent),
    ];
    next = fault;
    await expect(store.commit(batch)).rejects.toMatchObject({ code: fault });
    expect([await store.webhooks(T), await store.webhooks(taskId(3))]).toEqual(before);
    expect(await store.webhooks(taskId(2))).toEqual([]);
    expect(await store.findByMessage(SCOPE, "m")).toBeUndefined();
    expect(await store.failedWebhooks({ limit: 9 })).toEqual([]);
    next = undefined;
    expect(await outcomes(store, ...batch)).toEqual(["ok", "ok", "ok", "ok", "repeated"]);
    expect(await store.webhooks(taskId(2))).toMatchObject([{ cursor: 0, state: "active" }]);
    expect((await store.webhooks(T)).map(({ id, cursor }) => [id, cursor])).toEqual([
      ["w", 0],
      ["v", 1],
    ]);
  });

  test("a webhook that is set after a rollback starts at the stored end of the log", async () => {
    await using trial = await sqliteTrial();
    let next: "full" | undefined;
    const store = await trial.open({ fault: () => next });
    await store.commit([createOf(T)]);
    next = "full";
    const chunks = writeOf(T, { entries: [chunkEntry(2, "a", false), chunkEntry(3, "b")] });
    await expect(store.commit([chunks])).rejects.toMatchObject({ code: "full" });
    next = undefined;
    await store.commit([setWebhookOf(T, "w")]);
    expect(await store.webhooks(T)).toMatchObject([{ cursor: 1 }]);
  });

  test.each([
    ["io-lost", 1],
    ["io-kept", 2],
  ] as const)(
    "a COMMIT that fails with %s has an unknown outcome, stops the store, and is resolved by reopening",
    async (fault, seq) => {
      await using trial = await sqliteTrial();
      let next: typeof fault | undefined;
      const store = await trial.open({ fault: () => next });
      await store.commit([createOf(T)]);
      next = fault;
      const [failed, queued] = [
        store.commit([writeOf(T, { entries: [statusEntry(2)] })]),
        store.commit([createOf(taskId(2))]),
      ];
      await expect(failed).rejects.toMatchObject({ code: "unknown" });
      await expect(queued).rejects.toMatchObject({ code: "unknown" });
      next = undefined;
      for (const call of [
        () => store.commit([]),
        () => store.get(T, { artifacts: false }),
        () => store.health(),
        () => store.claimsOf(NODE),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: "unknown" });
      }
      await store.close();
      const again = await trial.open();
      expect(await again.positions([T, taskId(2)])).toEqual([{ id: T, seq, ended: false }]);
    },
  );

  test("after the writer thread dies, pending commits are unknown and earlier ones are stored", async () => {
    await using trial = await sqliteTrial();
    let isDying = false;
    const store = await trial.open({ fault: () => (isDying ? "death" : undefined) });
    await store.commit([createOf(T)]);
    isDying = true;
    await expect(store.commit([createOf(taskId(2))])).rejects.toMatchObject({ code: "unknown" });
    await expect(store.health()).rejects.toMatchObject({ code: "unknown" });
    await store.close();
    const again = await trial.open();
    expect(await again.positions([T, taskId(2)])).toEqual([{ id: T, seq: 1, ended: false }]);
  });

  test("a file that another program locked is busy, can be read, and recovers", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open();
    await store.commit([createOf(T)]);
    const intruder = new DatabaseSync(file);
    intruder.exec("BEGIN IMMEDIATE");
    await expect(store.commit([writeOf(T, { entries: [statusEntry(2)] })])).rejects.toMatchObject({ code: "busy" });
    await expect(store.health()).rejects.toMatchObject({ code: "busy" });
    await expect(store.leave(NODE)).rejects.toMatchObject({ code: "busy" });
    expect(await store.positions([T])).toEqual([{ id: T, seq: 1, ended: false }]);
    intruder.exec("ROLLBACK");
    intruder.close();
    await store.health();
    expect(await outcomes(store, writeOf(T, { entries: [statusEntry(2)] }))).toEqual(["ok"]);
  });

  test("closing a file that another program locked loses nothing", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.commit([createOf(T)]);
    const intruder = new DatabaseSync(trial.file);
    await store.commit([writeOf(T, { entries: [chunkEntry(2, "a", false)], end: endOf(3) })]);
    intruder.exec("BEGIN IMMEDIATE");
    await store.close();
    intruder.close();
    const again = await trial.open();
    expect((await again.log(T, 0, 1e6)).map((entry) => entry.seq)).toEqual([1, 2, 3]);
  });

  test("health makes a real write and leaves nothing behind", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.commit([createOf(T)]);
    const wal = `${trial.file}-wal`;
    const before = readFileSync(wal);
    await store.health();
    expect(readFileSync(wal).length - before.length).toBeGreaterThan(128 * 1024);
    for (let count = 0; count < 20; count += 1) await store.health();
    await store.close();
    const database = new DatabaseSync(trial.file);
    expect(database.prepare("SELECT count(*) AS rows FROM step").get()).toEqual({ rows: 0 });
    // The next probe reuses the pages.
    expect(Number(database.prepare("PRAGMA freelist_count").get()?.["freelist_count"])).toBeLessThan(50);
    database.close();
  });

  test("health fails only while the file cannot grow", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ maxPages: 120 });
    await store.commit([createOf(T)]);
    await store.health();
    const fill = async (): Promise<void> => {
      for (let seq = 2; seq < 1000; seq += 1)
        await store.commit([writeOf(T, { entries: [chunkEntry(seq, "x".repeat(3000), seq > 2)] })]);
    };
    await expect(fill()).rejects.toMatchObject({ code: "full" });
    await expect(store.health()).rejects.toMatchObject({ code: "full", message: expect.stringMatching(/disk space/) });
    // A failed probe does not stop the store.
    expect(await store.positions([T])).toMatchObject([{ ended: false }]);
  });

  test("a file that cannot grow rejects with full, keeps its data, and accepts commits that fit", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ maxPages: 120 });
    const acknowledged: number[] = [];
    let failure: unknown;
    const text = "x".repeat(20_000);
    await store.commit([createOf(T)]);
    let seq = 1;
    for (; seq < 100; seq++) {
      try {
        await store.commit([writeOf(T, { entries: [chunkEntry(seq + 1, text, seq > 1)] })]);
        acknowledged.push(seq + 1);
      } catch (thrown) {
        failure = thrown;
        break;
      }
    }
    expect(acknowledged.length).toBeGreaterThan(3);
    expect(failure).toMatchObject({ code: "full", message: expect.stringMatching(/disk space/) });
    expect((await store.log(T, 1, 1e9)).map((entry) => entry.seq)).toEqual(acknowledged);
    expect(await outcomes(store, writeOf(T, { entries: [chunkEntry(seq + 1, "small")] }))).toEqual(["ok"]);
    expect(await store.positions([T])).toEqual([{ id: T, seq: seq + 1, ended: false }]);
  });
});
