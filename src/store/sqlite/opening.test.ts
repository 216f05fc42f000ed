import { chmod, link, mkdir, open, stat, symlink, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import { outcomes } from "../../testing/store/results.ts";
import {
  chunkEntry,
  claimOf,
  createOf,
  endOf,
  SCOPE,
  START,
  setWebhookOf,
  statusEntry,
  taskId,
  tracedEntry,
  writeOf,
} from "../../testing/store-operations.ts";
import { tasks } from "./migrations/0001-tasks.ts";
import { webhooks } from "./migrations/0002-webhooks.ts";
import { journalAndRelations } from "./migrations/0003-journal-and-relations.ts";
import { smallerIndexes } from "./migrations/0004-smaller-indexes.ts";

const T = taskId(1);

describe("opening", () => {
  test("creates the folders of the file", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ file: trial.folder.file("a/b/c.db") });
    await store.health();
  });

  test("creates files that only their owner can read", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    await store.commit([createOf(T)]);
    for (const name of [trial.file, `${trial.file}-wal`, `${trial.file}-shm`, `${trial.file}.lock`]) {
      expect((await stat(name)).mode & 0o777).toBe(0o600);
    }
  });

  test("makes the world-readable lock file of an earlier release private", async () => {
    await using trial = await sqliteTrial();
    await (await trial.open()).close();
    await chmod(`${trial.file}.lock`, 0o644);
    await trial.open();
    expect((await stat(`${trial.file}.lock`)).mode & 0o777).toBe(0o600);
  });

  test("refuses a file with a newer schema, says what to do, and does not change it", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 999");
    database.close();
    await expect(trial.open()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(/schema 999.*Upgrade palaver/),
    });
    await expect(trial.open()).rejects.toMatchObject({ code: "unusable" });
  });

  test("migrates a file of the first schema with all its tasks", async () => {
    await using trial = await sqliteTrial();
    const database = new DatabaseSync(trial.file);
    database.exec(`${tasks.sql}; PRAGMA user_version = 1;
      INSERT INTO scope VALUES (1, 'echo', '', 'ada');
      INSERT INTO task (pk, id, scope, context, counted, state, status_at, ended, active, epoch, seq, first_seq, created_at, whole, dialect,
        message_id, status, runner, log)
      VALUES (1, '${T}', 1, 'c', 0, 5, ${START}, 1, 0, 1, 2, 1, ${START}, 1, 'd', 'm', '{}', '{}', 'a' || char(10) || 'b');`);
    database.close();
    const store = await trial.open({ retention: { maxTasks: 1 } });
    expect(await store.findByMessage(SCOPE, "m")).toEqual({ task: T, createdAt: START });
    expect(await outcomes(store, setWebhookOf(T, "w"), createOf(taskId(2)))).toEqual(["ok", "full"]);
    expect(await store.webhooks(T)).toMatchObject([{ id: "w", state: "active", cursor: 1 }]);
    await store.close();
    const again = await trial.open();
    expect(await again.webhooks(T)).toHaveLength(1);
  });

  test("reads the log of a file of schema 4, whose events have their metadata in full, and continues it", async () => {
    await using trial = await sqliteTrial();
    const [first, second] = [tracedEntry(statusEntry(1)), tracedEntry(chunkEntry(2, "a", false))];
    const database = new DatabaseSync(trial.file);
    for (const { sql } of [tasks, webhooks, journalAndRelations, smallerIndexes]) database.exec(sql);
    database.exec(`PRAGMA user_version = 4;
      INSERT INTO agent VALUES (1, 'echo');
      INSERT INTO scope VALUES (1, 'echo', '', 'ada');
      INSERT INTO task (pk, id, scope, agent, context, counted, state, status_at, ended, active, epoch, seq, first_seq, created_at, whole,
        dialect, node, status, runner)
      VALUES (1, '${T}', 1, 1, 'c', 0, 1, ${START}, 0, 1, 1, 2, 1, ${START}, 0, 'd', NULL, '{}', '{}');`);
    database
      .prepare("INSERT INTO log (task, first, last, body) VALUES (1, 1, 2, ?)")
      .run(`${first.body}\n${second.body}\t{"e":1}`);
    database.close();
    const store = await trial.open();
    const before = [first, { ...second, note: '{"e":1}' }];
    expect(await store.log(T, 0, 1e6)).toEqual(before);
    expect(await store.report?.()).toMatchObject({ schema: 5, newestSchema: 5 });
    const added = [tracedEntry(chunkEntry(3, "b"), 2), tracedEntry(chunkEntry(4, "c"), 2)];
    const ending = { ...endOf(5), entry: tracedEntry(statusEntry(5, "completed"), 2) };
    expect(await outcomes(store, claimOf(T, "n"), writeOf(T, { epoch: 2, entries: added, end: ending }))).toEqual([
      "ok",
      "ok",
    ]);
    expect(await store.log(T, 0, 1e6)).toEqual([...before, ...added, ending.entry]);
    await store.close();
    const again = await trial.open();
    expect(await again.log(T, 0, 1e6)).toEqual([...before, ...added, ending.entry]);
  });

  test("refuses a file that is not a database", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    await writeFile(file, "This is a shopping list, and a rather long one at that. ".repeat(100));
    await expect(trial.open()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(/not a database/),
    });
  });

  test("refuses a damaged database", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open();
    await store.commit(Array.from({ length: 200 }, (_, n) => createOf(taskId(n))));
    await store.close();
    const database = await open(file, "r+");
    await database.write(Buffer.alloc(200_000, 0x5a), 0, 200_000, 100);
    await database.close();
    await expect(trial.open()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(/damaged|not a database/),
    });
  });

  test("refuses a path that is a folder", async () => {
    await using trial = await sqliteTrial();
    await mkdir(trial.file);
    await expect(trial.open()).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(/may not be opened/),
    });
  });

  test("refuses a folder that cannot be created", async () => {
    await using trial = await sqliteTrial();
    await writeFile(trial.folder.file("plain"), "");
    await expect(trial.open({ file: trial.folder.file("plain/sub/x.db") })).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringMatching(/folder/),
    });
  });

  test.skipIf(process.getuid?.() === 0)("refuses a folder without write permission", async () => {
    await using trial = await sqliteTrial();
    await chmod(trial.folder.path, 0o500);
    try {
      await expect(trial.open()).rejects.toMatchObject({
        code: "unusable",
        message: expect.stringMatching(/write/),
      });
    } finally {
      await chmod(trial.folder.path, 0o700);
    }
  });

  test("refuses a file that this process has open, under any path", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open();
    await symlink(file, trial.folder.file("alias.db"));
    await link(file, trial.folder.file("link.db"));
    const names = [file, trial.folder.file("./store.db"), trial.folder.file("alias.db"), trial.folder.file("link.db")];
    for (const name of names) {
      await expect(trial.open({ file: name })).rejects.toMatchObject({
        code: "unusable",
        message: expect.stringContaining(`this process (pid ${process.pid})`),
      });
    }
    await store.commit([createOf(T)]);
    await store.close();
    await (await trial.open()).health();
  });

  test("reads, writes and keeps tasks in a file with a second path", async () => {
    await using trial = await sqliteTrial();
    await (await trial.open()).close();
    await link(trial.file, trial.folder.file("link ?#%.db"));
    const store = await trial.open({ file: trial.folder.file("link ?#%.db") });
    await store.commit([createOf(T)]);
    expect(await store.get(T, { artifacts: true })).toMatchObject({ id: T });
    await store.close();
    const again = await trial.open();
    expect(await again.get(T, { artifacts: true })).toMatchObject({ id: T });
  });
});
