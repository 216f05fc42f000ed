import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bus } from "../../src/bus/contract.ts";
import { createPostgresBus } from "../../src/bus/postgres/bus.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { until } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { type Pooler, startPooler, whyNoPooler } from "../fixtures/pooler.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { ContractStores } from "./contract-stores.ts";

const reason = (await whyNoPostgres()) ?? whyNoPooler();
let server: OwnDatabase;
let pooler: Pooler;
/** Each store durable or not, because a pooler refuses some settings of a session. */
const DURABILITIES = ["full", "process"] as const;
let stores: readonly ContractStores[];
/** Opened first, because it notices after some seconds that no hint arrives. */
let bus: Bus;
const warnings: unknown[] = [];
const logger = {
  debug: () => {},
  info: () => {},
  warn: (_message: string, details?: object) => warnings.push(details),
  error: () => {},
};

/** In `npm test` some cases; the others run in full only. */
const STRIDE = sampled(8, 1);
const cases = storeContract.filter((_, index) => index % STRIDE === 0);

describe.skipIf(reason !== undefined)(
  `PostgreSQL behind a pooler in transaction mode${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      pooler = await startPooler(server);
      const addresses = { url: pooler.url, directUrl: server.url };
      stores = await Promise.all(
        DURABILITIES.map((durability) => ContractStores.connect({ ...addresses, durability })),
      );
      bus = createPostgresBus({ url: pooler.url, channel: "hints", logger });
    });
    afterAll(async () => {
      await bus.close();
      await Promise.all(stores.map((each) => each.close()));
      await pooler.stop();
    });

    for (const [index, each] of cases.entries()) test(each.name, () => stores[index % DURABILITIES.length]?.run(each));

    test("the log says that hints do not arrive, and why", async () => {
      await until(() => warnings.length > 0);
      expect(String((warnings[0] as { error: unknown }).error)).toContain("A connection pooler does not pass them on");
    });
  },
);
