import { loadPostgresDriver, type PostgresClient } from "../../../internal/postgres/driver.ts";
import { StoreError } from "../../contract.ts";
import type { SecretName, StoreRecord, StoreSource, StoreTarget } from "../../copy/records.ts";
import type { StoreReport } from "../../report.ts";
import { migrate } from "../migrate.ts";
import { storeErrorOf } from "../postgres-error.ts";
import type { Query } from "../query.ts";
import { readReport } from "../report.ts";
import { oversizedName } from "../row/operation-json.ts";
import { quotedSchema } from "../schema.ts";
import { insertRecords } from "./insert-records.ts";
import { postgresRecords } from "./postgres-records.ts";

export interface PostgresPlace {
  readonly url: string;
  /** The schema that contains the tables. */
  readonly schema: string;
}

/** The tables that grow with the number of tasks. */
const TABLES = [
  "task",
  "log",
  "artifacts",
  "message",
  "inbox",
  "step",
  "journal",
  "webhook",
  "context",
  "context_value",
];

/** Milliseconds to wait for other programs that use the tables. */
const LOCK_TIMEOUT = 5000;

/**
 * Opens a schema to copy another store into it, and creates its tables if it has none. Rejects with a {@link StoreError} `unusable` if it contains
 * anything. Until the target is closed, no node can use the schema.
 */
export async function openPostgresTarget(place: PostgresPlace): Promise<StoreTarget> {
  const schema = quotedSchema(place.schema);
  const client = await connect(place);
  const query = queryOf(client);
  const close = (): Promise<void> => client.end().catch(() => {}); // Ends the transaction; a broken connection has ended it already.
  try {
    await migrate(client, schema);
    await query("BEGIN", []);
    await query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`, []);
    // A node that starts now waits: it would read the secrets that are replaced here.
    await query(`LOCK TABLE ${schema}.task, ${schema}.node, ${schema}.secret IN ACCESS EXCLUSIVE MODE`, []);
    await mustBeEmpty(query, schema, place.schema);
  } catch (error) {
    await close();
    throw error instanceof StoreError ? error : storeErrorOf(error, "nothing");
  }
  return {
    async add(records) {
      for (const record of records) mustFit(record);
      await insertRecords(query, schema, records);
    },
    async *records() {
      // Otherwise the planner takes the tables for empty until the server's own analysis, which comes later.
      await query(`ANALYZE ${TABLES.map((table) => `${schema}.${table}`).join(", ")}`, []);
      yield* postgresRecords(query, schema);
    },
    async setSecret(name, value) {
      await query(`INSERT INTO ${schema}.secret (name, value) VALUES ($1, $2)`, [name, value]);
    },
    async commit() {
      await query("COMMIT", []);
    },
    close,
  };
}

/** Opens a schema to copy it elsewhere. Rejects with a {@link StoreError} `unusable` if it has no tables or a living node uses it. */
export async function openPostgresSource(place: PostgresPlace): Promise<StoreSource> {
  const schema = quotedSchema(place.schema);
  const client = await connect(place);
  const query = queryOf(client);
  try {
    await query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []);
    const [living] = await query(`SELECT id FROM ${schema}.node WHERE lease_until > ${schema}.now_1(NULL) LIMIT 1`, []);
    if (living !== undefined)
      throw new StoreError(
        "unusable",
        `The node ${String(living["id"])} uses the schema ${place.schema}. Stop all nodes first: their tasks would run twice.`,
      );
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof StoreError ? error : storeErrorOf(error, "nothing");
  }
  return {
    countTasks: async () => Number((await query(`SELECT count(*) AS n FROM ${schema}.task`, []))[0]?.["n"]),
    records: () => postgresRecords(query, schema),
    async secret(name: SecretName) {
      const [row] = await query(`SELECT value FROM ${schema}.secret WHERE name = $1`, [name]);
      return row?.["value"] as Uint8Array | undefined; // Safe: the driver returns bytes as a Buffer.
    },
    close: () => client.end(),
  };
}

/** See `Store.report`. Neither creates nor migrates the schema. */
export async function inspectPostgres(place: PostgresPlace): Promise<StoreReport> {
  const schema = quotedSchema(place.schema);
  const client = await connect(place);
  try {
    return await readReport(queryOf(client), schema);
  } finally {
    await client.end();
  }
}

/** Creates the schema or brings it to the version of this release, as opening the store does. */
export async function migratePostgres(place: PostgresPlace): Promise<void> {
  const client = await connect(place);
  try {
    await migrate(client, quotedSchema(place.schema));
  } catch (error) {
    throw error instanceof StoreError ? error : storeErrorOf(error, "nothing");
  } finally {
    await client.end();
  }
}

async function connect({ url }: PostgresPlace): Promise<PostgresClient> {
  try {
    const driver = await loadPostgresDriver();
    const client = driver.createClient({ url, name: "palaver db", queryTimeout: 0 });
    client.on("error", () => {}); // The query under way fails.
    await client.connect();
    return client;
  } catch (error) {
    throw new StoreError("unusable", `The database cannot be opened. ${storeErrorOf(error, "nothing").message}`, {
      cause: error,
    });
  }
}

function queryOf(client: PostgresClient): Query {
  return async (text, values) => {
    try {
      return (await client.query(text, values)).rows;
    } catch (error) {
      throw storeErrorOf(error, "anything");
    }
  };
}

async function mustBeEmpty(query: Query, schema: string, name: string): Promise<void> {
  const tables = ["task", "context", "webhook", "secret", "node"];
  const checks = tables.map((table) => `EXISTS (SELECT FROM ${schema}.${table}) AS "${table}"`);
  const [row] = await query(`SELECT ${checks.join(", ")}`, []);
  const used = tables.filter((table) => row?.[table] === true);
  if (used.length === 0) return;
  throw new StoreError(
    "unusable",
    `The schema ${name} is not empty (${used.join(", ")}): a server has used it. Choose another schema (?schema=NAME), or delete this one: DROP SCHEMA ${name} CASCADE`,
  );
}

function mustFit(record: StoreRecord): void {
  if (record.kind !== "task") return;
  const { task } = record;
  const name = oversizedName([task.id, task.parent, task.root], [task.contextId, task.scope.agent, task.messageId]);
  if (name === undefined) return;
  throw new StoreError(
    "full",
    `The task ${task.id.slice(0, 100)} cannot be copied: one of its ids is longer than PostgreSQL's indexes allow (${name.slice(0, 40)}…).`,
  );
}
