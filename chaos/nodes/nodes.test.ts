import { describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { createOf, NODE, statusEntry, taskId, writeOf } from "../../src/testing/store-operations.ts";
import { whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { createRandom } from "../random.ts";
import { reportOf } from "../report.ts";
import { ChaosDatabase, SCHEMA } from "./database.ts";
import { NotificationFilter } from "./notification-filter.ts";
import { readNodesOptions } from "./options.ts";
import { planFaults } from "./plan.ts";
import { runNodesChaos } from "./run.ts";

const reason = await whyNoPostgres();
/** A run of some seconds with a fixed seed; `npm run chaos -- --nodes 3 --faults 1000` runs longer, with random seeds. */
const SHORT = [
  "--seed",
  "short",
  "--nodes",
  "3",
  "--faults",
  "50",
  "--pace",
  "250",
  "--concurrency",
  "1",
  "--lease",
  "3000",
];
/** Disables V8 features that occasionally crash processes; see `vitest.config.ts`. */
const SAFELY = "--node-options=--no-memory-protection-keys --no-sparkplug";

describe.skipIf(reason !== undefined)(
  `three nodes on one PostgreSQL that are killed, stopped and disconnected${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    it("lose no event, repeat none, write nothing with an old epoch, and finish every task", async () => {
      const result = await runNodesChaos(readNodesOptions([...SHORT, SAFELY]), () => {});
      expect(result.failures, reportOf(result)).toEqual([]);
      expect(result.counts).toMatchObject({ kill: 6, "hand-over": 2 });
      expect(result.counts["tasks"]).toBeGreaterThan(2);
      expect(result.counts["audited writes"]).toBeGreaterThan(20);
    }, 300_000);

    it("are audited: a write of a process that does not hold the lease is found", async () => {
      const database = await ChaosDatabase.start();
      try {
        const store = await openPostgresStore({
          url: database.urlFor("first", database.port).replace(/[?&]schema=[^&]*/, ""),
          schema: SCHEMA,
        });
        await store.heartbeat(NODE, 60_000);
        await store.commit([createOf(taskId(1))]);
        expect(await store.commit([writeOf(taskId(1), { entries: [statusEntry(2)] })])).toEqual([{ status: "ok" }]);
        expect(await database.strayWrites()).toEqual([]);
        await database.query(`INSERT INTO ${SCHEMA}.log VALUES ($1, 3, 3, 2, '[]')`, [taskId(1)]);
        expect(await database.strayWrites()).toEqual([`chaos wrote events from 3 of ${taskId(1)} in epoch 1`]);
        await store.close();
      } finally {
        await database.stop();
      }
    });
  },
);

describe("the plan of faults", () => {
  it("has 80 % faults of the network, 15 % ends of nodes and 5 % severe ones, and is the same for the same seed", () => {
    const plan = (seed: string) => planFaults(createRandom(seed), { faults: 1000, pace: 100 });
    const faults = plan("a").map((fault) => fault.do);
    expect(faults).toHaveLength(1000);
    expect(faults.filter((kind) => kind === "kill")).toHaveLength(100);
    expect(faults.filter((kind) => kind === "hand-over")).toHaveLength(50);
    const severe = faults.filter((kind) => /^(?:suspend|crash|jump)/.test(kind));
    expect(severe).toHaveLength(50);
    expect(new Set(faults).size).toBe(12);
    expect(plan("a").map(({ do: kind, time }) => [kind, time])).toEqual(
      plan("a").map(({ do: kind, time }) => [kind, time]),
    );
    expect(plan("b").map((fault) => fault.do)).not.toEqual(faults);
  });
});

describe("the filter of notifications", () => {
  const message = (type: string, text: string): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeUInt32BE(4 + text.length, 1);
    return Buffer.concat([head, Buffer.from(text)]);
  };

  it("drops whole notifications and passes everything else on, however the bytes arrive", () => {
    const stream = Buffer.concat([message("D", "row"), message("A", "hint"), message("Z", "I")]);
    for (let size = 1; size <= stream.length; size++) {
      const filter = new NotificationFilter(() => true);
      const passed: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) passed.push(filter.pass(stream.subarray(at, at + size)));
      expect(Buffer.concat(passed)).toEqual(Buffer.concat([message("D", "row"), message("Z", "I")]));
    }
    expect(new NotificationFilter(() => false).pass(stream)).toEqual(stream);
  });
});
