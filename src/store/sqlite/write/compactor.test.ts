import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqliteTrial } from "../../../testing/sqlite-trial.ts";
import { outcomes } from "../../../testing/store/results.ts";
import {
  chunkEntry,
  claimOf,
  createOf,
  endOf,
  NODE,
  postOf,
  START,
  statusEntry,
  taskId,
  tracedEntry,
  writeOf,
} from "../../../testing/store-operations.ts";
import type { LogEntry, Store } from "../../contract.ts";

const T = taskId(1);

describe("a log", () => {
  async function hotRows(file: string): Promise<number> {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return Number(database.prepare("SELECT count(*) AS n FROM log").get()?.["n"]);
    } finally {
      database.close();
    }
  }

  test("of a finished task leaves the hot log, and its artifacts are computed", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open();
    await store.commit([createOf(T)]);
    for (const seq of [2, 3, 4]) await store.commit([writeOf(T, { entries: [chunkEntry(seq, `${seq}`, seq > 2)] })]);
    await store.commit([writeOf(T, { end: endOf(5) })]);
    await expect.poll(() => hotRows(file)).toBe(0);
    const record = await store.get(T, { artifacts: true });
    expect(JSON.parse(record?.artifacts ?? "null")).toEqual([{ artifactId: "result", parts: [{ text: "234" }] }]);
    expect((await store.log(T, 0, 1e6)).map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5]);
    expect((await store.log(T, 3, 1e6)).map((entry) => entry.seq)).toEqual([4, 5]);
  });

  test("of a running task leaves the hot log when it grows, and reads stay complete", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open();
    const other = taskId(2);
    await store.commit([createOf(T), createOf(other)]);
    const text = "z".repeat(3000);
    let seq = 1;
    const readWhole = async (): Promise<void> => {
      let read = 0;
      while (read < seq) {
        const page = await store.log(T, read, 100_000);
        expect(page.length).toBeGreaterThan(0);
        for (const entry of page) {
          read += 1;
          expect(entry.seq).toBe(read);
          expect(entry.body).toContain(read > 1 ? `"${read}:` : "status");
        }
      }
    };
    for (let round = 0; round < 12; round++) {
      const commits: Promise<unknown>[] = [];
      for (let n = 0; n < 60; n++) {
        seq += 1;
        const entry = chunkEntry(seq, `${seq}:${text}`, seq > 2);
        commits.push(
          store.commit([writeOf(T, { entries: [entry] }), writeOf(other, { entries: [{ ...entry, body: "{}" }] })]),
        );
      }
      await Promise.all(commits);
      await readWhole();
      expect(await store.positions([T, other])).toEqual([
        { id: T, seq, ended: false },
        { id: other, seq, ended: false },
      ]);
    }
    expect(await hotRows(file)).toBeLessThan(2 * seq);
    await store.commit([writeOf(T, { release: true }), writeOf(other, { release: true })]);
    await expect.poll(() => hotRows(file)).toBe(0);
    await readWhole();
    expect((await store.get(T, { artifacts: false }))?.seq).toBe(seq);
    expect(await outcomes(store, claimOf(T, NODE), writeOf(T, { epoch: 2, end: endOf(seq + 1) }))).toEqual([
      "ok",
      "ok",
    ]);
    expect(await store.log(T, seq - 1, 1e6)).toHaveLength(2);
  });

  test("that a crash left in the hot log is compacted at the next start", async () => {
    await using trial = await sqliteTrial();
    const { file } = trial;
    const store = await trial.open({ fault: () => (isDying ? "death" : undefined) });
    let isDying = false;
    await store.commit([createOf(T), writeOf(T, { entries: [chunkEntry(2, "a", false)] })]);
    const ending = store.commit([writeOf(T, { end: endOf(3) })]);
    isDying = true;
    const dying = store.commit([]);
    await ending;
    await expect(dying).rejects.toMatchObject({ code: "unknown" });
    expect(await hotRows(file)).toBeGreaterThan(0);
    await store.close();
    const again = await trial.open();
    await expect.poll(() => hotRows(file)).toBe(0);
    expect((await again.log(T, 0, 1e6)).map((entry) => entry.seq)).toEqual([1, 2, 3]);
    expect((await again.get(T, { artifacts: true }))?.artifacts).toContain('"a"');
  });

  test("of many megabytes is stored in segments, and readers compute its artifacts", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open();
    const text = "y".repeat(100_000);
    await store.commit([createOf(T)]);
    for (let seq = 2; seq <= 60; seq++) await store.commit([writeOf(T, { entries: [chunkEntry(seq, text, seq > 2)] })]);
    await store.commit([writeOf(T, { end: endOf(61) })]);
    await store.sweep();
    expect((await store.get(T, { artifacts: true }))?.artifacts).toBeUndefined();
    let read = 0;
    for (let page = await store.log(T, 0, 256_000); page.length > 0; page = await store.log(T, read, 256_000)) {
      expect(page.length).toBeLessThanOrEqual(3);
      for (const entry of page) expect(entry.seq).toBe(++read);
    }
    expect(read).toBe(61);
  });

  test("of up to 4 MB is dropped after its artifacts were stored", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { logAge: 10 }, now: () => START + 11 });
    const text = "y".repeat(200_000);
    await store.commit([createOf(T)]);
    for (let seq = 2; seq <= 15; seq++) await store.commit([writeOf(T, { entries: [chunkEntry(seq, text, seq > 2)] })]);
    await store.commit([writeOf(T, { end: endOf(16) })]);
    await store.sweep();
    const record = await store.get(T, { artifacts: true });
    expect(record?.firstSeq).toBe(17);
    expect(record?.artifacts?.length).toBeGreaterThan(14 * 200_000);
    expect(await store.log(T, 0, 1e9)).toEqual([]);
  });

  test("of more than 4 MB is never dropped, because readers compute its artifacts in pieces", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { logAge: 10 }, now: () => START + 11 });
    const text = "y".repeat(200_000);
    await store.commit([createOf(T)]);
    for (let seq = 2; seq <= 30; seq++) await store.commit([writeOf(T, { entries: [chunkEntry(seq, text, seq > 2)] })]);
    await store.commit([writeOf(T, { end: endOf(31) })]);
    await store.sweep();
    await store.sweep();
    const record = await store.get(T, { artifacts: true });
    expect([record?.firstSeq, record?.artifacts]).toEqual([1, undefined]);
    expect(await store.log(T, 0, 1e9)).toHaveLength(31);
  });

  test("with an entry that is not an event is kept as it is", async () => {
    await using trial = await sqliteTrial();
    const store = await trial.open({ retention: { logAge: 10 }, now: () => START + 11 });
    await store.commit([createOf(T, {}, { entries: [{ seq: 1, body: '"?"' }] })]);
    await store.commit([writeOf(T, { end: endOf(2) })]);
    await store.sweep();
    expect(await store.log(T, 0, 1e6)).toHaveLength(2);
    await store.health();
  });

  describe("of a traced task", () => {
    /** A commit with several chunks, or one; the span changes in the middle, as it does when an attempt begins. */
    const chunks = Array.from({ length: 40 }, (_, n) =>
      tracedEntry(chunkEntry(n + 2, `${n}`.repeat(n), n > 0), n < 21 ? 1 : 2),
    );
    const whole = [
      tracedEntry(statusEntry(1)),
      ...chunks,
      { ...tracedEntry(statusEntry(42, "completed"), 2), note: "n" },
    ];
    const ending = { ...endOf(42), entry: { ...tracedEntry(statusEntry(42, "completed"), 2), note: "n" } };

    async function expectWhole(store: Store): Promise<void> {
      for (let after = 0; after <= whole.length; after++)
        expect(await store.log(T, after, 1e6)).toEqual(whole.slice(after));
      const read: LogEntry[] = [];
      for (let page = await store.log(T, 0, 700); page.length > 0; page = await store.log(T, read.length, 700)) {
        const bytes = page.reduce((sum, { body }) => sum + body.length, 0);
        expect(page.length === 1 || bytes <= 700).toBe(true);
        read.push(...page);
      }
      expect(read).toEqual(whole);
    }

    test.each(["in its row", "in segments"])(
      "is read from every entry, before and after it is stored %s",
      async (place) => {
        await using trial = await sqliteTrial();
        const store = await trial.open();
        await store.commit([createOf(T, {}, { entries: whole.slice(0, 1) })]);
        for (const [from, to] of [
          [0, 5],
          [5, 6],
          [6, 8],
          [8, 24],
        ] as const)
          await store.commit([writeOf(T, { entries: chunks.slice(from, to) })]);
        expect(await store.log(T, 0, 1e6)).toEqual(whole.slice(0, 25));
        expect(await store.log(T, 22, 1e6)).toEqual(whole.slice(22, 25));
        if (place === "in segments") {
          await store.commit([writeOf(T, { release: true })]);
          await expect.poll(() => hotRows(trial.file)).toBe(0);
          expect(await store.log(T, 0, 1e6)).toEqual(whole.slice(0, 25));
          expect(await outcomes(store, claimOf(T, NODE))).toEqual(["ok"]);
        }
        const epoch = place === "in segments" ? 2 : 1;
        expect(await outcomes(store, writeOf(T, { epoch, entries: chunks.slice(24), end: ending }))).toEqual(["ok"]);
        await expectWhole(store);
        await expect.poll(() => hotRows(trial.file)).toBe(0);
        await expectWhole(store);
        const artifacts = (await store.get(T, { artifacts: true }))?.artifacts;
        await store.close();
        const again = await trial.open();
        await expectWhole(again);
        const text = chunks.map((_, n) => `${n}`.repeat(n)).join("");
        expect(JSON.parse(artifacts ?? "null")).toEqual([{ artifactId: "result", parts: [{ text }] }]);
        expect((await again.get(T, { artifacts: true }))?.artifacts).toBe(artifacts);
      },
    );

    test("goes on after an end that a message prevented", async () => {
      await using trial = await sqliteTrial();
      const store = await trial.open();
      const refused = { ...endOf(4), entry: tracedEntry(statusEntry(4, "completed")), unlessInbox: true };
      const before = [
        tracedEntry(statusEntry(1)),
        tracedEntry(chunkEntry(2, "a", false)),
        tracedEntry(chunkEntry(3, "b")),
      ];
      expect(
        await outcomes(
          store,
          createOf(T, {}, { entries: before.slice(0, 1) }),
          postOf(T, { id: "m" }),
          writeOf(T, { entries: before.slice(1), end: refused }),
        ),
      ).toEqual(["ok", "ok", "inbox"]);
      expect(await store.log(T, 0, 1e6)).toEqual(before);
      const after = [tracedEntry(chunkEntry(4, "c"))];
      const end = { ...refused, entry: tracedEntry(statusEntry(5, "completed")) };
      expect(await outcomes(store, writeOf(T, { taken: ["m"], entries: after, end }))).toEqual(["ok"]);
      expect(await store.log(T, 0, 1e6)).toEqual([...before, ...after, end.entry]);
      await expect.poll(() => hotRows(trial.file)).toBe(0);
      expect(await store.log(T, 0, 1e6)).toEqual([...before, ...after, end.entry]);
      expect(await store.log(T, 4, 1e6)).toEqual([end.entry]);
    });

    test("that ends in its first commit has its metadata once", async () => {
      await using trial = await sqliteTrial();
      const store = await trial.open();
      const entries = [tracedEntry(statusEntry(1)), tracedEntry(chunkEntry(2, "a", false))];
      const end = { ...endOf(3, { artifacts: "[]" }), entry: tracedEntry(statusEntry(3, "completed")) };
      await store.commit([createOf(T, {}, { entries, end })]);
      expect(await store.log(T, 0, 1e6)).toEqual([...entries, end.entry]);
      const database = new DatabaseSync(trial.file, { readOnly: true });
      const stored = String(database.prepare("SELECT log FROM task").get()?.["log"]);
      database.close();
      expect(stored.split('"metadata"')).toHaveLength(2);
      expect(stored.length).toBe([...entries, end.entry].reduce((sum, { body }) => sum + body.length + 1, -1) - 171);
    });
  });
});
