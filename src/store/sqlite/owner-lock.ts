import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../contract.ts";
import { locationOf } from "./connection.ts";
import { hasOtherPaths, identityOf, lockHolderOf, makePrivate } from "./file-identity.ts";
import { isBusy } from "./sqlite-error.ts";

export interface OwnerLock {
  /** The file has other paths and is locked itself: every connection to it must be `exclusive`. */
  readonly exclusive: boolean;
  release(): void;
}

/** The files whose stores this process has open. Operating system locks exclude other processes only. */
const openHere = new Set<string>();

/**
 * Makes this process the only owner of a store file. The lock is an open write transaction on a small database beside the file: the operating
 * system ends it when the process dies, and another process can still read the owner's process id from it. A file with other paths (hard
 * links, bind mounts) is locked itself as well, because a process that uses another path does not see the lock beside this one.
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
    // Commit the process id first, so that other processes can read it while the next transaction stays open.
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

/** A connection that excludes every other process from the file until it is closed. */
function lockFile(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(locationOf({ file, exclusive: true }), { timeout: 0 });
  try {
    // The first read takes the lock.
    database.prepare("PRAGMA user_version").get();
    return database;
  } catch (thrown) {
    database.close();
    if (isBusy(thrown)) throw inUse(file, lockHolderOf(file), thrown);
    // The file is not a database: opening the store reports it.
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

/** The owner may be writing its process id right now: retry for a while. */
function readOwner(database: DatabaseSync): number | undefined {
  database.exec("PRAGMA busy_timeout = 500");
  try {
    if (database.isTransaction) database.exec("ROLLBACK");
    const pid = database.prepare("SELECT pid FROM owner").get()?.["pid"];
    return typeof pid === "number" ? pid : undefined;
  } catch {
    // Without the process id the error says less; the lock is still refused.
    return undefined;
  }
}
