import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { pendingMigrations } from "../migrations.ts";
import { tasks } from "./migrations/0001-tasks.ts";
import { webhooks } from "./migrations/0002-webhooks.ts";
import { journalAndRelations } from "./migrations/0003-journal-and-relations.ts";
import { smallerIndexes } from "./migrations/0004-smaller-indexes.ts";
import { sharedEndings } from "./migrations/0005-shared-endings.ts";
import type { StoreFailure } from "./sqlite-error.ts";

/** `full`: commits survive a power failure. `process`: commits survive a crash of the process only. */
export type Durability = "full" | "process";

export interface ConnectionOptions {
  readonly file: string;
  /** While such a connection is open, no other process can open the file, not even to read it. */
  readonly exclusive: boolean;
  readonly durability: Durability;
  /** Milliseconds to wait for a lock of another program. */
  readonly busyTimeout: number;
}

const MIGRATIONS = [tasks, webhooks, journalAndRelations, smallerIndexes, sharedEndings];
const MAX_READ_WAIT = 50;

/** The location for SQLite. Its VFS `unix-excl` locks the file for one process, whose connections share the lock. */
export function locationOf({ file, exclusive }: Pick<ConnectionOptions, "file" | "exclusive">): string | URL {
  if (!exclusive) return file;
  const url = pathToFileURL(file);
  url.searchParams.set("vfs", "unix-excl");
  return url;
}

/** Opens the only writing connection and migrates the schema. Throws errors of SQLite, or a {@link SchemaTooNew}. */
export function openForWriting(options: ConnectionOptions): DatabaseSync {
  const database = new DatabaseSync(locationOf(options), { timeout: options.busyTimeout });
  try {
    // The first read fails if the file is not a database.
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
  // A reader waits only if another program locks the whole file. Do not wait: it would block the event loop.
  const database = new DatabaseSync(locationOf(options), { timeout: Math.min(options.busyTimeout, MAX_READ_WAIT) });
  database.exec("PRAGMA query_only = ON; PRAGMA cache_size = -16000;");
  return database;
}

/** Runs `work` in a read transaction: all its reads see the same snapshot. */
export function inTransaction<T>(database: DatabaseSync, read: () => T): T {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

/** Whether later commits wait for the disk. Work that can be repeated after a power failure need not wait. */
export function setDurability(database: DatabaseSync, durability: Durability): void {
  database.exec(`PRAGMA synchronous = ${synchronousOf(durability)}`);
}

/** A newer release wrote the file. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly failure: StoreFailure;

  constructor(file: string, version: number) {
    super(
      `${file} has schema ${version}, but this palaver knows only ${NEWEST_SCHEMA}. Upgrade palaver, or choose another file.`,
    );
    this.failure = { code: "unusable", message: this.message };
  }
}

/** The schema version that this release writes. */
export const NEWEST_SCHEMA: number = MIGRATIONS.at(-1)?.version ?? 0;

/** The schema version of a file; 0: it has no tables yet. */
export function userVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function synchronousOf(durability: Durability): string {
  return durability === "full" ? "FULL" : "NORMAL";
}
