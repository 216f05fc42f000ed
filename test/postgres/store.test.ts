import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/testing/store/store-case.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { checkListAgainstModel } from "../../src/testing/store-model.ts";
import { sampled } from "../fixtures/budget.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { EmptySchemas } from "./empty-schemas.ts";

const reason = await whyNoPostgres();
let server: OwnDatabase;
let schemas: EmptySchemas;

/** Opens an empty schema, and can open it a second time, as another node does. */
const openEmpty: OpenStore = async (setup) => {
  const options = { url: server.url, schema: await schemas.next(), ...setup };
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

describe.skipIf(reason !== undefined)(
  `the PostgreSQL store${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      schemas = await EmptySchemas.connect(server.url);
    });
    afterEach(() => schemas.releaseAll());
    afterAll(async () => {
      await schemas.close();
    });

    for (const { name, run } of storeContract) test(name, () => run(openEmpty));

    test("is opened by several nodes at the same time: one creates the tables, and the others wait", async () => {
      for (let round = 0; round < 5; round++) {
        const options = { url: server.url, schema: `opened_at_once_${round}` };
        const opened = await Promise.all(Array.from({ length: 6 }, () => openPostgresStore(options)));
        await Promise.all(opened.map((store) => store.close()));
      }
    });

    test("lists and counts like a filter and sort over all tasks", async () => {
      const opened = await openPostgresStore({ url: server.url, schema: await schemas.next() });
      try {
        await checkListAgainstModel(opened, sampled(10, 100));
      } finally {
        await opened.close();
      }
    });
  },
);
