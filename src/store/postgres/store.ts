import { loadPostgresDriver } from "../../internal/postgres/driver.ts";
import { type Retention, StoreError } from "../contract.ts";
import { Connections } from "./connections.ts";
import { migrate } from "./migrate.ts";
import type { OpenPostgresStore } from "./open-postgres-store.ts";
import { storeErrorOf } from "./postgres-error.ts";
import { PostgresStore } from "./postgres-store.ts";
import { quotedSchema } from "./schema.ts";

export interface PostgresStoreOptions {
  /** Such as `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** The schema that contains the tables. Created if it does not exist. Default `palaver`. */
  readonly schema?: string;
  /**
   * When a commit counts as stored. `full`: when the server has written it to disk. `process`: at once; a crash of the database server may lose the
   * last commits, a crash of this process does not. Default `full`.
   */
  readonly durability?: "full" | "process";
  /** Default: all tasks are kept. */
  readonly retention?: Retention;
  /** Milliseconds after which a call without an answer fails. Default 15000. */
  readonly queryTimeout?: number;
  /** For tests: the store's clock in milliseconds. Default: the clock of the database server. */
  readonly now?: () => number;
}

/** Opens a store in a PostgreSQL database, version 14 or later. It needs the package `pg`. Rejects with a {@link StoreError} `unusable` that says what to do. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenPostgresStore> {
  const { url, schema: name = "palaver", durability = "full", retention = {}, queryTimeout = 15_000, now } = options;
  const schema = quotedSchema(name);
  const driver = await loadPostgresDriver().catch((error: unknown) => {
    throw new StoreError("unusable", error instanceof Error ? error.message : String(error), { cause: error });
  });
  const connections = new Connections(driver, { url, name: "palaver", queryTimeout }, durability === "full");
  try {
    const client = await connections.connect();
    try {
      await migrate(client, schema);
    } finally {
      await client.end();
    }
  } catch (error) {
    await connections.close();
    throw openingError(error);
  }
  return new PostgresStore({ connections, schema, retention, now });
}

function openingError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message } = storeErrorOf(error, "nothing");
  return new StoreError("unusable", `The database cannot be opened. ${message}`, { cause: error });
}
