import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createPostgresBus } from "../../src/bus/postgres/bus.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/testing/store/store-case.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { until } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { type Pooler, startPooler, whyNoPooler } from "../fixtures/pooler.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { EmptySchemas } from "./empty-schemas.ts";

const reason = (await whyNoPostgres()) ?? whyNoPooler();
let server: OwnDatabase;
let pooler: Pooler;
let schemas: EmptySchemas;

/** Each store durable or not, because a pooler refuses some settings of a session. */
function openThrough(durability: "full" | "process"): OpenStore {
  return async (setup) => {
    const options = { url: pooler.url, schema: await schemas.next(), durability, ...setup };
    const store = await openPostgresStore(options);
    const opened = [store];
    return {
      store,
      openSecond: async () => {
        const second = await openPostgresStore(options);
        opened.push(second);
        return second;
      },
      settle: async () => {
        for (const one of opened) await one.countTasks();
      },
    };
  };
}

/** In `npm test` some cases; the others run in full only. */
const STRIDE = sampled(8, 1);
const cases = storeContract.filter((_, index) => index % STRIDE === 0);

describe.skipIf(reason !== undefined)(
  `PostgreSQL behind a pooler in transaction mode${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      pooler = await startPooler(server);
      schemas = await EmptySchemas.connect(server.url);
    });
    afterEach(() => schemas.releaseAll());
    afterAll(async () => {
      await schemas.close();
      await pooler.stop();
    });

    for (const [index, { name, run }] of cases.entries())
      test(name, () => run(openThrough(index % 2 === 0 ? "full" : "process")));

    test("the log says that hints do not arrive, and why", async () => {
      const warnings: unknown[] = [];
      const logger = {
        debug: () => {},
        info: () => {},
        warn: (_message: string, details?: object) => warnings.push(details),
        error: () => {},
      };
      const bus = createPostgresBus({ url: pooler.url, channel: "hints", logger });
      await until(() => warnings.length > 0);
      await bus.close();
      expect(String((warnings[0] as { error: unknown }).error)).toContain("A connection pooler does not pass them on");
    });
  },
);
