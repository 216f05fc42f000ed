import { execFileSync } from "node:child_process";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { TaskStore } from "a2a-sdk-v1/server";

/**
 * The official SDK's database store on a SQLite file. It needs a query builder (`kysely`) that this package does not
 * depend on: without it the import rejects with `ERR_MODULE_NOT_FOUND`. The driver is Node's own SQLite, the same
 * engine that Palaver uses, with the same durability.
 */
export async function openDatabaseStore(file: string): Promise<TaskStore> {
  // Not string literals: the packages are optional, and a type checker would require their declarations.
  const builderModule = ["kysely"].join("");
  const storeModule = ["a2a-sdk-v1/server", "database"].join("/");
  const builder: KyselyModule = await import(builderModule);
  const store: StoreModule = await import(storeModule);

  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  database.exec(schema());
  const dialect = new builder.SqliteDialect({ database: adapt(database) });
  return new store.DatabaseTaskStore(new builder.Kysely({ dialect }));
}

interface KyselyModule {
  readonly Kysely: new (options: { readonly dialect: unknown }) => object;
  readonly SqliteDialect: new (options: { readonly database: DriverDatabase }) => unknown;
}

interface StoreModule {
  readonly DatabaseTaskStore: new (database: object) => TaskStore;
}

/** The interface that the query builder requires of a driver. */
interface DriverDatabase {
  prepare(sql: string): {
    readonly reader: boolean;
    all(parameters: readonly SQLInputValue[]): unknown[];
    run(parameters: readonly SQLInputValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
    iterate(parameters: readonly SQLInputValue[]): IterableIterator<unknown>;
  };
  close(): void;
}

function adapt(database: DatabaseSync): DriverDatabase {
  return {
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => statement.run(...parameters),
        iterate: (parameters) => statement.iterate(...parameters),
      };
    },
    close: () => database.close(),
  };
}

/** The tables as the SDK's own migration tool creates them. */
function schema(): string {
  const tool = fileURLToPath(new URL("../cli/a2a_db.js", import.meta.resolve("a2a-sdk-v1/server")));
  return execFileSync(process.execPath, [tool, "upgrade", "--sql", "--dialect", "sqlite", "--store", "tasks"], {
    encoding: "utf8",
  });
}
