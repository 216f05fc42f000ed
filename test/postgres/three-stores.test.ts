import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import type { OpenPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/testing/store/store-case.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { sampled } from "../fixtures/budget.ts";
import { CountedStores } from "../fixtures/nodes/counted-stores.ts";
import { inTurn } from "../fixtures/nodes/in-turn.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { live, parameters, RUNS, story } from "../integration/engine-story.ts";
import { EngineWorld, type WorldOptions } from "../integration/engine-world.ts";
import { EmptySchemas } from "./empty-schemas.ts";

const reason = await whyNoPostgres();
const STORES = 3;
let server: OwnDatabase;
let schemas: EmptySchemas;

function openThree(options: PostgresStoreOptions): Promise<readonly OpenPostgresStore[]> {
  return Promise.all(Array.from({ length: STORES }, () => openPostgresStore(options)));
}

/** Every call goes to the next of three stores. */
const openInTurn: OpenStore = async (setup) => {
  const options = { url: server.url, schema: await schemas.next(), ...setup };
  const opened: OpenPostgresStore[] = [];
  const open = async (): Promise<OpenPostgresStore> => {
    const three = await openThree(options);
    opened.push(...three);
    return inTurn(three);
  };
  return {
    store: await open(),
    openSecond: open,
    settle: async () => {
      for (const one of opened) await one.countTasks();
    },
  };
};

/** In `npm test` some cases; the others run in full only. */
const STRIDE = sampled(8, 1);
const cases = storeContract.filter((_, index) => index % STRIDE === 3 % STRIDE);

describe.skipIf(reason !== undefined)(
  `three stores on one PostgreSQL${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      schemas = await EmptySchemas.connect(server.url);
    });
    afterEach(() => schemas.releaseAll());
    afterAll(async () => {
      await schemas.close();
    });

    describe("used in turn, each for one call, are like one store:", () => {
      for (const { name, run } of cases) test(name, () => run(openInTurn));
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
