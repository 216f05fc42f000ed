import type { Outcome } from "./contract.ts";

/** Outcomes without further data, as constants. */
export const OK: Outcome = { status: "ok" };
export const INBOX: Outcome = { status: "inbox" };
export const FENCED: Outcome = { status: "fenced" };
export const DUPLICATE: Outcome = { status: "duplicate" };
export const ENDED: Outcome = { status: "ended" };
export const NOT_FOUND: Outcome = { status: "not-found" };
export const FULL: Outcome = { status: "full" };
export const CONFLICT: Outcome = { status: "conflict" };
