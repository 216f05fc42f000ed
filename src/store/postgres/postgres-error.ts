import { StoreError, type StoreErrorCode } from "../contract.ts";

/**
 * What a failed call may have done. `nothing`: it only read, or was never sent. `anything`: it may have been applied if the connection broke.
 */
export type PossibleEffect = "nothing" | "anything";

/** SQLSTATE codes after which the same call may succeed later, and nothing of it was applied. */
const RETRIABLE = new Set([
  "40001", // serialization failure
  "40P01", // deadlock
  "55P03", // lock not available
  "57014", // canceled, for example by statement_timeout
  "57P03", // the server is starting or stopping
  "25006", // read-only, for example a standby after a failover
  "53200", // out of memory
  "53300", // too many connections
  "53400", // a configured limit is exceeded
]);
const DISK_FULL = "53100";
/** The server closed the connection during the call: administrator command, crash of another process. */
const CLOSED_BY_SERVER = new Set(["57P01", "57P02", "57P05"]);

/** Transactions that were rolled back because of others; they are repeated at once. */
export function isRolledBack(error: unknown): boolean {
  const code = sqlState(error);
  return code === "40001" || code === "40P01";
}

/** The store's error for an error of the driver. */
export function storeErrorOf(error: unknown, effect: PossibleEffect): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error, effect);
  const text = error instanceof Error ? error.message : String(error);
  return new StoreError(code, `PostgreSQL: ${text}${adviceOf(code)}`, { cause: error });
}

function codeOf(error: unknown, effect: PossibleEffect): StoreErrorCode {
  const state = sqlState(error);
  if (state === undefined || state.startsWith("08") || CLOSED_BY_SERVER.has(state))
    return effect === "nothing" ? "busy" : "lost";
  if (state === DISK_FULL) return "full";
  return RETRIABLE.has(state) ? "busy" : "unusable";
}

function adviceOf(code: StoreErrorCode): string {
  switch (code) {
    case "busy":
      return " (nothing was written; the call may be repeated)";
    case "lost":
      return " (whether the call was applied is not known)";
    case "full":
      return " (free some disk space of the database server)";
    default:
      return "";
  }
}

/** The five characters by which PostgreSQL classifies an error; `undefined` for errors of the network or the driver. */
function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error) || !("severity" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
