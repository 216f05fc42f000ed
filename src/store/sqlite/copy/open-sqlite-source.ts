import { readFileSync, realpathSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../contract.ts";
import type { SecretName, StoreSource } from "../../copy/records.ts";
import type { StoreReport } from "../../report.ts";
import { NEWEST_SCHEMA, openForReading, SchemaTooNew, userVersion } from "../connection.ts";
import { lockOwner, type OwnerLock } from "../owner-lock.ts";
import { readReport } from "../read/report-reader.ts";
import { failureOf, storeError } from "../sqlite-error.ts";
import { sqliteRecords } from "./sqlite-records.ts";

/** A file that this process alone uses, for reading. */
interface SqliteReading {
  readonly database: DatabaseSync;
  readonly file: string;
  close(): void;
}

/**
 * Opens a file for reading while no server uses it; its contents stay as they are. Throws a {@link StoreError} `unusable`: the file does not exist, a
 * process uses it, or it is not a store.
 */
function openForReadingAlone(path: string): SqliteReading {
  const file = existing(path);
  const lock: OwnerLock = lockOwner(file);
  let database: DatabaseSync | undefined;
  try {
    database = openForReading({ file, exclusive: lock.exclusive, durability: "full", busyTimeout: 1000 });
    const version = userVersion(database);
    if (version > NEWEST_SCHEMA) throw new SchemaTooNew(file, version);
    const opened = database;
    return {
      database,
      file,
      close() {
        if (opened.isOpen) opened.close();
        lock.release();
      },
    };
  } catch (thrown) {
    database?.close();
    lock.release();
    throw thrown instanceof StoreError ? thrown : storeError(failureOf(thrown, file), thrown);
  }
}

/** See `Store.report`, of a file that no server uses. Throws as {@link openForReadingAlone} does. */
export function inspectSqlite(path: string): StoreReport {
  const { database, file, close } = openForReadingAlone(path);
  try {
    return readReport(database, { file, now: Date.now(), leases: new Map() });
  } finally {
    close();
  }
}

/** Opens a file to copy it elsewhere. Throws as {@link openForReadingAlone} does, and if the file has an older schema. */
export function openSqliteSource(path: string): StoreSource {
  const { database, file, close } = openForReadingAlone(path);
  const version = userVersion(database);
  if (version < NEWEST_SCHEMA) {
    close();
    throw new StoreError(
      "unusable",
      `${file} has schema ${version}; this palaver copies schema ${NEWEST_SCHEMA}. Migrate it first: palaver db migrate sqlite:${path}`,
    );
  }
  return {
    countTasks: async () => Number(database.prepare("SELECT count(*) AS n FROM task").get()?.["n"]),
    records: () => sqliteRecords(database),
    secret: async (name) => readSecret(secretFileOf(path, name)),
    close: async () => close(),
  };
}

/** The file beside a store that has a secret. `file`: the path by which the server opens it. */
export function secretFileOf(file: string, name: SecretName): string {
  return name === "secret" ? `${file}.key` : `${file}.signing.json`;
}

function readSecret(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new StoreError("unusable", `${file} cannot be read (${String(error)}).`, { cause: error });
  }
}

function existing(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new StoreError("unusable", `There is no file ${path}.`, { cause: error });
  }
}
