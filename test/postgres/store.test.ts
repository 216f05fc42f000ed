import { afterAll, beforeAll, describe, test } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { checkListAgainstModel } from "../../src/testing/store-model.ts";
import { sampled } from "../fixtures/budget.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { ContractStores } from "./contract-stores.ts";

const reason = await whyNoPostgres();
let server: OwnDatabase;
let stores: ContractStores;

describe.skipIf(reason !== undefined)(
  `the PostgreSQL store${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      stores = await ContractStores.connect({ url: server.url });
    });
    afterAll(() => stores.close());

    for (const each of storeContract) test(each.name, () => stores.run(each));

    test("is opened by several nodes at the same time: one creates the tables, and the others wait", async () => {
      for (let round = 0; round < 5; round++) {
        const options = { url: server.url, schema: `opened_at_once_${round}` };
        const opened = await Promise.all(Array.from({ length: 6 }, () => openPostgresStore(options)));
        await Promise.all(opened.map((store) => store.close()));
      }
    });

    test("lists and counts like a filter and sort over all tasks", async () => {
      const opened = await openPostgresStore({ url: server.url, schema: "listed" });
      try {
        await checkListAgainstModel(opened, sampled(10, 100));
      } finally {
        await opened.close();
      }
    });
  },
);
