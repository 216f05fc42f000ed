import { loadPostgresDriver } from "../../internal/postgres/driver.ts";
import { StoreError } from "../contract.ts";
import { storeErrorOf } from "./postgres-error.ts";
import { quotedSchema } from "./schema.ts";

/** Bytes that all nodes of a store share, such as keys: see `OpenPostgresStore.sharedValue`. */
export interface SharedValues {
  /** `undefined`: there is none with this name. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Stores `to` if the value is still `from`; `undefined`: if there is none. False: another process was first. */
  replace(name: string, from: Uint8Array | undefined, to: Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

/** Connects to a store without opening it. Rejects with a {@link StoreError} `unusable` if the schema has no tables or the database cannot be reached. */
export async function openSharedValues(place: {
  readonly url: string;
  readonly schema: string;
}): Promise<SharedValues> {
  const table = `${quotedSchema(place.schema)}.secret`;
  const query = async (text: string, values: unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    try {
      return (await client.query(text, values)).rows;
    } catch (error) {
      throw storeErrorOf(error, "anything");
    }
  };
  const driver = await loadPostgresDriver().catch((error: unknown) => {
    throw new StoreError("unusable", error instanceof Error ? error.message : String(error), { cause: error });
  });
  const client = driver.createClient({ url: place.url, name: "palaver keys", queryTimeout: 15_000 });
  client.on("error", () => {}); // The query under way fails.
  try {
    await client.connect();
    const { rows } = await client.query(
      "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'secret'",
      [place.schema],
    );
    if (rows.length === 0)
      throw new StoreError(
        "unusable",
        `The schema ${place.schema} has no tables. Create them: palaver db migrate postgres:`,
      );
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof StoreError ? error : storeErrorOf(error, "nothing");
  }
  return {
    async read(name) {
      const [row] = await query(`SELECT value FROM ${table} WHERE name = $1`, [name]);
      return row?.["value"] as Uint8Array | undefined; // Safe: the driver returns bytes as a Buffer.
    },
    async replace(name, from, to) {
      const changed =
        from === undefined
          ? await query(`INSERT INTO ${table} (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING name`, [
              name,
              to,
            ])
          : await query(`UPDATE ${table} SET value = $2 WHERE name = $1 AND value = $3 RETURNING name`, [
              name,
              to,
              from,
            ]);
      return changed.length > 0;
    },
    close: () => client.end(),
  };
}
