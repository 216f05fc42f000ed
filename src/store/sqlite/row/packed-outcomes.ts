import type { Outcome } from "../../contract.ts";
import { CONFLICT, DUPLICATE, ENDED, FENCED, FULL, INBOX, NOT_FOUND, OK } from "../../outcomes.ts";

const PLAIN: readonly Outcome[] = [OK, INBOX, FENCED, DUPLICATE, ENDED, NOT_FOUND, FULL, CONFLICT];

/** Outcomes as the writer thread sends them back: an outcome without further data is a number. */
export type PackedOutcomes = readonly (number | Outcome)[];

export function packOutcomes(outcomes: readonly Outcome[]): PackedOutcomes {
  return outcomes.map((outcome) => {
    const code = PLAIN.indexOf(outcome);
    return code < 0 ? outcome : code;
  });
}

export function unpackOutcomes(packed: PackedOutcomes): readonly Outcome[] {
  return packed.map((outcome) => (typeof outcome === "number" ? (PLAIN[outcome] ?? OK) : outcome));
}
