import { StoreError, type StoreErrorCode } from "../contract.ts";

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** What went wrong, in a form that crosses threads. */
export interface StoreFailure {
  readonly code: StoreErrorCode;
  readonly message: string;
}

/** SQLite's primary result code, if SQLite threw this. */
export function sqliteCode(thrown: unknown): number | undefined {
  const isSqlite = thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number";
  return isSqlite ? Number(thrown.errcode) & 0xff : undefined;
}

export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(thrown);
  return code === BUSY || code === LOCKED;
}

/** Why a transaction that was rolled back, or a read, failed. */
export function failureOf(thrown: unknown, file: string): StoreFailure {
  const code = sqliteCode(thrown);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === BUSY || code === LOCKED) {
    return { code: "busy", message: `${file} is locked by another program (${reason}). Close whatever has it open.` };
  }
  if (code === FULL || code === IOERR) {
    return { code: "full", message: `${file} cannot be written (${reason}). Free some disk space.` };
  }
  return { code: "unusable", message: `${file} cannot be used: ${advice(code, reason)}` };
}

/**
 * Why a COMMIT failed. A busy or a full one has not happened: a full disk is met while the pages go into the write-ahead
 * log, and without the last of them there is no commit. Any other error may come after that last page.
 */
export function commitFailureOf(thrown: unknown, file: string): StoreFailure {
  const code = sqliteCode(thrown);
  if (code === BUSY || code === LOCKED || code === FULL) return failureOf(thrown, file);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    code: "unknown",
    message: `${file}: a commit failed (${reason}), and whether it was written shows only when the file is opened again. Restart.`,
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
