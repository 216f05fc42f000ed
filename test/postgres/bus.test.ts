import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Bus, Hint } from "../../src/bus/contract.ts";
import { createPostgresBus } from "../../src/bus/postgres/bus.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { taskId } from "../../src/testing/store-operations.ts";
import { until } from "../e2e/workbench.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";

const reason = await whyNoPostgres();
const T = taskId(1);
let server: OwnDatabase;
let admin: PostgresClient;
const buses: Bus[] = [];

interface Member {
  readonly bus: Bus;
  readonly hints: Hint[];
  connections: number;
}

/** A node on the bus. Resolves when it is connected. */
async function join(node: string): Promise<Member> {
  const bus = createPostgresBus({ url: server.url, channel: "hints", logger: SILENT_LOGGER });
  buses.push(bus);
  const member: Member = { bus, hints: [], connections: 0 };
  bus.subscribe({
    node,
    onHints: (hints) => member.hints.push(...hints),
    onReconnect: () => {
      member.connections += 1;
    },
  });
  await until(() => member.connections === 1);
  return member;
}

const log = (seq: number, task = T): Hint => ({ kind: "log", task, seq });
const inbox = (node: string, task = T): Hint => ({ kind: "inbox", task, node });

describe.skipIf(reason !== undefined)(
  `the PostgreSQL bus${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      admin = (await loadPostgresDriver()).createClient({ url: server.url, name: "administrator", queryTimeout: 0 });
      await admin.connect();
    });
    afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.close())));
    afterAll(async () => {
      await admin.end();
    });

    test("sends inbox hints to the node that has the lease, and log hints to the nodes that watch the task", async () => {
      const [a, b] = [await join("a"), await join("b")];
      const unwatch = b.bus.watch(T);
      b.bus.watch(taskId(2));
      a.bus.publish([log(3), inbox("a"), inbox("b"), inbox("c")]);
      await until(() => a.hints.length === 1 && b.hints.length === 2);
      expect(a.hints).toEqual([inbox("a")]);
      expect(b.hints).toEqual(expect.arrayContaining([log(3), inbox("b")]));
      unwatch();
      a.bus.publish([log(4), log(1, taskId(2))]);
      await until(() => b.hints.length === 3);
      expect(b.hints[2]).toEqual(log(1, taskId(2)));
    });

    test("sends no log hint of a task that nobody watches, and the last one to a node that begins to watch", async () => {
      const [a, b] = [await join("a"), await join("b")];
      const payloads: string[] = [];
      admin.on("notification", ({ payload = "" }) => payloads.push(payload));
      await admin.query("LISTEN hints");
      for (const seq of [1, 2, 3]) {
        a.bus.publish([log(seq)]);
        await new Promise((done) => setImmediate(done));
      }
      a.bus.publish([inbox("b")]);
      await until(() => b.hints.length === 1);
      expect(payloads.filter((payload) => payload.includes(T))).toEqual([JSON.stringify([[T, "b"]])]);
      // The event 3 may have been committed after this node has read the task.
      b.bus.watch(T);
      await until(() => b.hints.length === 2);
      expect(b.hints).toEqual([inbox("b"), log(3)]);
      a.bus.publish([log(4)]);
      await until(() => b.hints.length === 3);
      expect(b.hints[2]).toEqual(log(4));
      await admin.query("UNLISTEN hints");
    });

    test("a node that was interrupted asks the others what they watch", async () => {
      const [a, b] = [await join("a"), await join("b")];
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palaver hints' AND datname = current_database()",
      );
      // Its announcement is lost, or comes before the other node listens again.
      b.bus.watch(T);
      await until(() => a.connections === 2 && b.connections === 2);
      const late = await join("c");
      for (const [index, { bus }] of [a, late].entries()) {
        await until(() => {
          bus.publish([log(5 + index)]);
          return b.hints.some((hint) => hint.kind === "log" && hint.seq === 5 + index);
        });
      }
    });

    test("sends the hints of one turn together, and of one log only the last", async () => {
      const [a, b] = [await join("a"), await join("b")];
      b.bus.watch(T);
      for (let seq = 1; seq <= 1000; seq++) a.bus.publish([log(seq)]);
      await until(() => b.hints.length > 0);
      expect(b.hints).toEqual([log(1000)]);
    });

    test("tells all nodes to read the store if there are more hints than NOTIFY can carry", async () => {
      const [a, b] = [await join("a"), await join("b")];
      a.bus.publish(Array.from({ length: 20_000 }, (_, n) => inbox("b", taskId(n))));
      await until(() => b.connections === 2);
      expect(b.hints).toEqual([]);
      // A few thousand bytes are sent in several payloads.
      a.bus.publish(Array.from({ length: 500 }, (_, n) => inbox("b", taskId(n))));
      await until(() => b.hints.length === 500);
    });

    test("connects again after its connection was ended, tells its subscribers to read the store, and sends hints as before", async () => {
      const [a, b] = [await join("a"), await join("b")];
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palaver hints' AND datname = current_database()",
      );
      await until(() => a.connections === 2 && b.connections === 2);
      a.bus.publish([inbox("b")]);
      await until(() => b.hints.length === 1);
    });

    test("ignores notifications of other programs on its channel", async () => {
      const a = await join("a");
      for (const payload of ["", "{", "{}", "[1]", '[["x"]]', "[[1,2]]", "null"])
        await admin.query("SELECT pg_notify('hints', $1)", [payload]);
      a.bus.publish([inbox("a")]);
      await until(() => a.hints.length === 1);
      expect(a.hints).toEqual([inbox("a")]);
    });

    test("delivers hints within the process while no server can be reached, and closes without one", async () => {
      const bus = createPostgresBus({ url: "postgres://127.0.0.1:1/none", channel: "hints", logger: SILENT_LOGGER });
      const hints: Hint[] = [];
      bus.subscribe({ node: "a", onHints: (some) => hints.push(...some), onReconnect: () => {} });
      bus.publish([inbox("a")]);
      await until(() => hints.length === 1);
      await bus.close();
      await bus.close();
    });
  },
);
