import type { PostgresClient } from "../../internal/postgres/driver.ts";
import { StoreError } from "../contract.ts";
import { pendingMigrations } from "../migrations.ts";
import { migrationsOf, type PostgresMigration } from "./schema.ts";

/** PostgreSQL 14. */
const OLDEST_SERVER = 140_000;
/** Any constant: the lock that one migrating process holds. */
const LOCK = 5_247_915_613;

/**
 * Creates the schema or brings it to the version of this release, in one transaction. Several nodes may call it at the same time: one migrates, the
 * others wait. Rejects with `unusable` if the server is too old or the schema is too new. `schema` is a quoted name.
 */
export async function migrate(client: PostgresClient, schema: string): Promise<void> {
  const [server] = (await client.query("SELECT current_setting('server_version_num')::integer AS number")).rows;
  if (Number(server?.["number"]) < OLDEST_SERVER)
    throw new StoreError("unusable", "The PostgreSQL server is too old: version 14 or later is needed.");
  const known = migrationsOf(schema);
  if ((await pending(client, schema, known)).length === 0) return;
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    // Another node may have migrated while this one waited.
    for (const migration of await pending(client, schema, known)) await apply(client, schema, migration);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {}); // The first error says what is wrong.
    throw error;
  }
}

async function pending(
  client: PostgresClient,
  schema: string,
  known: readonly PostgresMigration[],
): Promise<readonly PostgresMigration[]> {
  // Not to_regclass: it may use a cache that does not know what another node has just committed.
  const tables = await client.query(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migration'",
    [unquoted(schema)],
  );
  if (tables.rows.length === 0) return known;
  const { rows } = await client.query(
    `SELECT version, readable_from FROM ${schema}.migration ORDER BY version DESC LIMIT 1`,
  );
  const version = Number(rows[0]?.["version"] ?? 0);
  const found = pendingMigrations(version, known);
  // Safe cast: they are some of `known`.
  if (found !== undefined) return found as readonly PostgresMigration[];
  const newest = known.at(-1)?.version ?? 0;
  if (Number(rows[0]?.["readable_from"]) <= newest) return [];
  throw new StoreError(
    "unusable",
    `The schema ${schema} has version ${version}, which a later release of Palaver created. Use that release.`,
  );
}

async function apply(client: PostgresClient, schema: string, migration: PostgresMigration): Promise<void> {
  if (migration.version === 1) {
    // Without the right to create schemas, an administrator creates it.
    const { rows } = await client.query("SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1", [unquoted(schema)]);
    if (rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(
      `CREATE TABLE ${schema}.migration (version integer PRIMARY KEY, readable_from integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
  }
  await client.query(migration.sql);
  await client.query(`INSERT INTO ${schema}.migration (version, readable_from) VALUES ($1, $2)`, [
    migration.version,
    migration.readableFrom,
  ]);
}

/** The name inside the quotes: see `quotedSchema`. */
function unquoted(schema: string): string {
  return schema.slice(1, -1);
}
