import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { OpenPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { sampled } from "../fixtures/budget.ts";
import { CountedStores } from "../fixtures/nodes/counted-stores.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { live, parameters, RUNS, story } from "../integration/engine-story.ts";
import { EngineWorld, type WorldOptions } from "../integration/engine-world.ts";
import { ContractStores } from "./contract-stores.ts";
import { EmptySchemas } from "./empty-schemas.ts";

const reason = await whyNoPostgres();
const STORES = 3;
let server: OwnDatabase;
let stores: ContractStores;
let schemas: EmptySchemas;

function openThree(options: PostgresStoreOptions): Promise<readonly OpenPostgresStore[]> {
  return Promise.all(Array.from({ length: STORES }, () => openPostgresStore(options)));
}

/** In `npm test` some cases; the others run in full only. */
const STRIDE = sampled(8, 1);
const cases = storeContract.filter((_, index) => index % STRIDE === 3 % STRIDE);

describe.skipIf(reason !== undefined)(
  `three stores on one PostgreSQL${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      stores = await ContractStores.connect({ url: server.url, count: STORES });
      schemas = await EmptySchemas.connect(server.url);
    });
    afterAll(async () => {
      await stores.close();
      await schemas.close();
    });

    describe("used in turn, each for one call, are like one store:", () => {
      for (const each of cases) test(each.name, () => stores.run(each));
    });

    test("the log invariants hold for any sequence of engine events, each engine with its own store", {
      timeout: 30 * 60_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(story, async ({ happenings, ...options }) => {
          const schema = await schemas.next();
          const stores = new CountedStores();
          const openStore: NonNullable<WorldOptions["openStore"]> = async (setup) => {
            const place = { url: server.url, schema, durability: "process" as const, ...setup };
            stores.use(await openThree(place));
            return openPostgresStore(place);
          };
          try {
            await live(new EngineWorld({ ...options, openStore, nodeStores: stores }), happenings);
          } finally {
            await stores.close();
            schemas.releaseAll();
          }
        }),
        { ...parameters(Math.ceil(RUNS / sampled(50, 1))), endOnFailure: true },
      );
    });
  },
);
