import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../contract.ts";
import { locationOf } from "./connection.ts";
import { hasOtherPaths, identityOf, lockHolderOf, makePrivate } from "./file-identity.ts";
import { isBusy } from "./sqlite-error.ts";

export interface OwnerLock {
  /** The file itself is locked, because it has other paths: every connection to it must be `exclusive`. */
  readonly exclusive: boolean;
  release(): void;
}

/** The files whose stores this process has open: the system's locks keep out other processes only. */
const openHere = new Set<string>();

/**
 * Makes this process the only owner of a store's file. The lock is an open write transaction on a small database beside it:
 * the operating system ends it with the process, however that dies, and whoever comes too late can still read whose it is. A file that has
 * other paths is locked itself as well, since whoever comes by one of those finds no lock beside it.
 */
export function lockOwner(file: string): OwnerLock {
  const identity = identityOf(file);
  if (identity !== undefined && openHere.has(identity)) throw inUse(file, process.pid);
  const beside = lockBeside(file);
  try {
    const exclusive = hasOtherPaths(file) && process.platform !== "win32";
    const held = exclusive ? lockFile(file) : undefined;
    if (identity !== undefined) openHere.add(identity);
    return {
      exclusive,
      release() {
        if (identity !== undefined) openHere.delete(identity);
        held?.close();
        if (beside.isOpen) beside.close();
      },
    };
  } catch (thrown) {
    beside.close();
    throw thrown;
  }
}

function lockBeside(file: string): DatabaseSync {
  makePrivate(`${file}.lock`);
  const database = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  try {
    // The id is written in a transaction of its own, so that others can read it while the next one is held open.
    database.exec("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS owner (pid INTEGER NOT NULL);");
    database.exec(`DELETE FROM owner; INSERT INTO owner VALUES (${process.pid}); COMMIT; BEGIN IMMEDIATE;`);
    return database;
  } catch (thrown) {
    const pid = isBusy(thrown) ? readOwner(database) : undefined;
    database.close();
    if (!isBusy(thrown)) throw thrown;
    throw inUse(file, pid, thrown);
  }
}

/** A connection that keeps every other process away from the file until it is closed. */
function lockFile(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(locationOf({ file, exclusive: true }), { timeout: 0 });
  try {
    // The first read locks it.
    database.prepare("PRAGMA user_version").get();
    return database;
  } catch (thrown) {
    database.close();
    if (isBusy(thrown)) throw inUse(file, lockHolderOf(file), thrown);
    // It is no database: who opens it next says so.
    return undefined;
  }
}

function inUse(file: string, pid: number | undefined, cause?: unknown): StoreError {
  const who =
    pid === undefined ? "another process" : pid === process.pid ? `this process (pid ${pid})` : `process ${pid}`;
  return new StoreError(
    "unusable",
    `${file} is in use by ${who}. Stop it, or choose another file (--store sqlite:FILE).`,
    { cause },
  );
}

/** The one who holds the lock may be writing its id at this moment: look again for a while. */
function readOwner(database: DatabaseSync): number | undefined {
  database.exec("PRAGMA busy_timeout = 500");
  try {
    if (database.isTransaction) database.exec("ROLLBACK");
    const pid = database.prepare("SELECT pid FROM owner").get()?.["pid"];
    return typeof pid === "number" ? pid : undefined;
  } catch {
    // Without an id the message says less; the lock is refused all the same.
    return undefined;
  }
}
