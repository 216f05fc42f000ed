import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../contract.ts";
import { isBusy } from "./sqlite-error.ts";

export interface OwnerLock {
  release(): void;
}

/**
 * Makes this process the only owner of a store's file. The lock is an open write transaction on a small database beside it:
 * the operating system ends it with the process, however that dies, and whoever comes too late can still read whose it is.
 */
export function lockOwner(file: string): OwnerLock {
  const database = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  try {
    // The id is written in a transaction of its own, so that others can read it while the next one is held open.
    database.exec("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS owner (pid INTEGER NOT NULL);");
    database.exec(`DELETE FROM owner; INSERT INTO owner VALUES (${process.pid}); COMMIT; BEGIN IMMEDIATE;`);
  } catch (thrown) {
    const pid = isBusy(thrown) ? readOwner(database) : undefined;
    database.close();
    if (!isBusy(thrown)) throw thrown;
    const who =
      pid === undefined ? "another process" : pid === process.pid ? `this process (pid ${pid})` : `process ${pid}`;
    throw new StoreError(
      "unusable",
      `${file} is in use by ${who}. Stop it, or choose another file (--store sqlite:FILE).`,
      {
        cause: thrown,
      },
    );
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
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
