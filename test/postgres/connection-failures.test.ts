import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClock } from "../../src/internal/clock.ts";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { CommitWriter } from "../../src/store/commit-writer.ts";
import { StoreError } from "../../src/store/contract.ts";
import type { OpenPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import {
  claimQuery,
  createOf,
  NODE,
  postOf,
  statusEntry,
  taskId,
  writeOf,
} from "../../src/testing/store-operations.ts";
import { sampled } from "../fixtures/budget.ts";
import { type PostgresServer, startPostgres, whyNoPostgres } from "../fixtures/postgres-server.ts";

const reason = await whyNoPostgres();
const T = taskId(1);
let server: PostgresServer;
let store: OpenPostgresStore;
let schemas = 0;

async function openStore(): Promise<void> {
  store = await openPostgresStore({ url: server.url, schema: `failures_${++schemas}` });
}

/** A connection of its own, as an administrator uses. */
async function administrator(): Promise<PostgresClient> {
  const client = (await loadPostgresDriver()).createClient({ url: server.url, name: "administrator", queryTimeout: 0 });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Ends all connections of stores. */
async function terminateAll(admin: PostgresClient): Promise<void> {
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palaver'");
}

describe.skipIf(reason !== undefined)(
  `a PostgreSQL store whose connections break${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterEach(() => store.close());
    afterAll(() => server.stop());

    test("applies each commit exactly once, however often its connection is ended by the server", async () => {
      await openStore();
      await store.commit([createOf(T)]);
      const writer = new CommitWriter({ store, clock: createClock(), name: "writer" });
      const admin = await administrator();
      const commits = sampled(60, 2000);
      for (let n = 1; n <= commits; n++) {
        const committed = writer.commit([
          writeOf(T, { entries: [statusEntry(1 + n)] }),
          postOf(T, { id: `m${n}` }, 1e6),
        ]);
        // At any moment of the commit: while it connects, is sent, is applied or is answered.
        await sleep(Math.random() * 8);
        await terminateAll(admin);
        expect(await committed).toEqual([{ status: "ok" }, { status: "ok", node: NODE }]);
      }
      await admin.end();
      const log = await store.log(T, 0, 1e9);
      expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: commits + 1 }, (_, index) => index + 1));
      expect(await store.inbox(T)).toHaveLength(commits);
    });

    test("rejects a commit with `lost` if its connection breaks while the server applies it, and answers its repetition", async () => {
      await openStore();
      await store.commit([createOf(T)]);
      // Holds the lock that the commit waits for, so that the connection breaks during the commit.
      const admin = await administrator();
      await admin.query("BEGIN");
      await admin.query(`SELECT FROM failures_${schemas}.task WHERE id = $1 FOR UPDATE`, [T]);
      const key = { writer: "writer", n: 1 };
      const operations = [writeOf(T, { entries: [statusEntry(2)] })];
      const lost = expect(store.commit(operations, key)).rejects.toMatchObject({ name: "StoreError", code: "lost" });
      await sleep(100);
      const other = await administrator();
      await terminateAll(other);
      await lost;
      await admin.query("COMMIT");
      expect(await store.commit(operations, key)).toEqual([{ status: "ok" }]);
      expect(await store.commit(operations, key)).toEqual([{ status: "ok" }]);
      expect(await store.positions([T])).toEqual([{ id: T, seq: 2, ended: false }]);
      await Promise.all([admin.end(), other.end()]);
    });

    test("rejects every call with `busy` or `lost` while the database is down, and works again after its restart", async () => {
      await openStore();
      await store.heartbeat(NODE, 60_000);
      await store.commit([createOf(T)]);
      await server.crash();
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.commit([writeOf(T, { entries: [statusEntry(2)] })]),
        () => store.get(T, { artifacts: true }),
        () => store.log(T, 0, 1000),
        () => store.heartbeat(NODE, 60_000),
        () => store.claimDue(claimQuery()),
        () => store.health(),
        () => store.sweep(),
      ];
      for (const call of calls) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(StoreError);
        expect(error).toMatchObject({ code: expect.stringMatching(/^(busy|lost)$/) });
      }
      await server.restart();
      expect(await store.commit([writeOf(T, { entries: [statusEntry(2)] })])).toEqual([{ status: "ok" }]);
      expect(await store.log(T, 0, 1000)).toHaveLength(2);
      await store.health();
    });

    test("is opened with an error that says what is wrong: no server, an invalid schema, a newer schema", async () => {
      await openStore();
      await expect(openPostgresStore({ url: "postgres://127.0.0.1:1/none" })).rejects.toMatchObject({
        code: "unusable",
        message: expect.stringContaining("The database cannot be opened"),
      });
      await expect(openPostgresStore({ url: server.url, schema: "No Name" })).rejects.toThrow(/lower-case letters/);
      const admin = await administrator();
      await admin.query(`INSERT INTO failures_${schemas}.migration (version, readable_from) VALUES (1000, 1000)`);
      const options = { url: server.url, schema: `failures_${schemas}` };
      await expect(openPostgresStore(options)).rejects.toMatchObject({
        code: "unusable",
        message: expect.stringContaining("a later release"),
      });
      // A later release that this one can work with, as during a rolling deployment.
      await admin.query(`UPDATE failures_${schemas}.migration SET readable_from = 1 WHERE version = 1000`);
      await (await openPostgresStore(options)).close();
      await admin.end();
    });
  },
);
