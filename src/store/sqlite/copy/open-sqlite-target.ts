import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makeFolder } from "../../../internal/make-folder.ts";
import { StoreError } from "../../contract.ts";
import { SECRET_NAMES, type StoreTarget } from "../../copy/records.ts";
import { openForWriting } from "../connection.ts";
import { makePrivate } from "../file-identity.ts";
import { lockOwner } from "../owner-lock.ts";
import { failureOf, storeError } from "../sqlite-error.ts";
import { RecordInserter } from "./insert-records.ts";
import { secretFileOf } from "./open-sqlite-source.ts";
import { sqliteRecords } from "./sqlite-records.ts";

/**
 * Opens a new file to copy another store into it. The file gets its name at the commit; before, it is `FILE.copying`. Throws a {@link StoreError}
 * `unusable` if the file or one of its secrets exists.
 */
export function openSqliteTarget(file: string): StoreTarget {
  for (const path of [file, ...SECRET_NAMES.map((name) => secretFileOf(file, name))]) {
    if (existsSync(path)) throw new StoreError("unusable", `${path} exists already. Choose a file that does not.`);
  }
  makeFolder(dirname(file));
  const lock = lockOwner(file);
  const place = `${file}.copying`;
  const remove = (): void => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(place + suffix, { force: true });
  };
  let database: DatabaseSync;
  try {
    remove();
    makePrivate(place);
    database = openForWriting({ file: place, exclusive: false, durability: "full", busyTimeout: 1000 });
  } catch (thrown) {
    lock.release();
    throw storeError(failureOf(thrown, place), thrown);
  }
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw storeError(failureOf(thrown, place), thrown);
    }
  };
  database.exec("BEGIN IMMEDIATE");
  const inserter = new RecordInserter(database);
  const secrets: [string, Uint8Array][] = [];
  return {
    add: async (records) => guarded(() => inserter.add(records)),
    async *records() {
      // The readers use transactions of their own, so the copy is committed first: under a name that no server opens.
      guarded(() => database.exec("COMMIT"));
      yield* sqliteRecords(database);
    },
    async setSecret(name, value) {
      secrets.push([secretFileOf(file, name), value]);
    },
    async commit() {
      guarded(() => {
        if (database.isTransaction) database.exec("COMMIT");
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        database.close();
        for (const [path, value] of secrets) writeFileSync(path, value, { mode: 0o600, flush: true });
        renameSync(place, file);
      });
    },
    async close() {
      if (database.isOpen) database.close();
      remove();
      lock.release();
    },
  };
}
