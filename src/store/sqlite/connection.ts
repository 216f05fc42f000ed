import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { pendingMigrations } from "../migrations.ts";
import { tasks } from "./migrations/0001-tasks.ts";
import { webhooks } from "./migrations/0002-webhooks.ts";
import type { StoreFailure } from "./sqlite-error.ts";

/** `full`: what is committed survives a power cut. `process`: it survives the death of the process. */
export type Durability = "full" | "process";

export interface ConnectionOptions {
  readonly file: string;
  /** No other process may open the file while any such connection is open, not even to read it. */
  readonly exclusive: boolean;
  readonly durability: Durability;
  /** How long to wait for a lock that another program holds, in ms. */
  readonly busyTimeout: number;
}

const MIGRATIONS = [tasks, webhooks];
const MAX_READ_WAIT = 50;

/** Where to open a file. SQLite's `unix-excl` locks the file itself for one process, whose connections share it. */
export function locationOf({ file, exclusive }: Pick<ConnectionOptions, "file" | "exclusive">): string | URL {
  if (!exclusive) return file;
  const url = pathToFileURL(file);
  url.searchParams.set("vfs", "unix-excl");
  return url;
}

/** The one connection that writes. Brings the schema up to date; throws what SQLite throws, or a {@link SchemaTooNew}. */
export function openForWriting(options: ConnectionOptions): DatabaseSync {
  const database = new DatabaseSync(locationOf(options), { timeout: options.busyTimeout });
  try {
    // The first read: it fails here if the file is no database.
    const version = userVersion(database);
    const pending = pendingMigrations(version, MIGRATIONS);
    if (pending === undefined) throw new SchemaTooNew(options.file, version);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${synchronousOf(options.durability)};
      PRAGMA wal_autocheckpoint = 1000;
      PRAGMA journal_size_limit = 64000000;
      PRAGMA cache_size = -16000;
      PRAGMA foreign_keys = OFF;
    `);
    for (const { version: next, sql } of pending) {
      database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${next}; COMMIT;`);
    }
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

export function openForReading(options: ConnectionOptions): DatabaseSync {
  // Readers wait for nobody but a program that locks the whole file, and the thread they wait on has other things to do.
  const database = new DatabaseSync(locationOf(options), { timeout: Math.min(options.busyTimeout, MAX_READ_WAIT) });
  database.exec("PRAGMA query_only = ON; PRAGMA cache_size = -16000;");
  return database;
}

/** All that is read in it is of one moment. */
export function inTransaction<T>(database: DatabaseSync, read: () => T): T {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

/** Any further commits wait for the disk, or, for work that may be lost because it can be done again, do not. */
export function setDurability(database: DatabaseSync, durability: Durability): void {
  database.exec(`PRAGMA synchronous = ${synchronousOf(durability)}`);
}

/** The file was written by a later release. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly failure: StoreFailure;

  constructor(file: string, version: number) {
    const newest = MIGRATIONS.at(-1)?.version;
    super(
      `${file} has schema ${version}, but this palaver knows only ${newest}. Upgrade palaver, or choose another file.`,
    );
    this.failure = { code: "unusable", message: this.message };
  }
}

function userVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function synchronousOf(durability: Durability): string {
  return durability === "full" ? "FULL" : "NORMAL";
}
