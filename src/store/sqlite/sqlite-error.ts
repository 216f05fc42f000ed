import { StoreError, type StoreErrorCode } from "../contract.ts";

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** An error in a form that can be sent between threads. */
export interface StoreFailure {
  readonly code: StoreErrorCode;
  readonly message: string;
}

/** The primary result code, if SQLite threw the error. */
export function sqliteCode(thrown: unknown): number | undefined {
  const isSqlite = thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number";
  return isSqlite ? Number(thrown.errcode) & 0xff : undefined;
}

export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown);
  return code === BUSY || code === LOCKED;
}

/** The failure of a read, or of a transaction that was rolled back. */
export function failureOf(thrown: unknown, file: string): StoreFailure {
  const code = sqliteCode(thrown);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === BUSY || code === LOCKED) {
    return { code: "busy", message: `${file} is locked by another program (${reason}). Close the other program.` };
  }
  if (code === FULL || code === IOERR) {
    return { code: "full", message: `${file} cannot be written (${reason}). Free some disk space.` };
  }
  return { code: "unusable", message: `${file} cannot be used: ${advice(code, reason)}` };
}

/**
 * The failure of a COMMIT. With `busy` or `full` nothing was committed: a full disk fails while pages are written to the write-ahead log, and
 * the last page makes the commit. Any other error may occur after that page, so the outcome is unknown.
 */
export function commitFailureOf(thrown: unknown, file: string): StoreFailure {
  const code = sqliteCode(thrown);
  if (code === BUSY || code === LOCKED || code === FULL) return failureOf(thrown, file);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    code: "unknown",
    message: `${file}: a commit failed (${reason}). Whether it was written is known after the file is opened again: restart the process.`,
  };
}

export function storeError(failure: StoreFailure, cause?: unknown): StoreError {
  return new StoreError(failure.code, failure.message, cause === undefined ? undefined : { cause });
}

function advice(code: number | undefined, reason: string): string {
  if (code === NOTADB)
    return "it is not a database, or is damaged. Choose another file, or move this one away to begin anew.";
  if (code === CORRUPT) return "it is damaged. Restore it from a backup, or move it away to begin anew.";
  if (code === CANTOPEN || code === READONLY)
    return "it may not be opened for writing. Check the permissions of the file and its folder.";
  return `${reason}.`;
}
