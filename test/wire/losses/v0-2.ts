import type { Loss } from "./loss.ts";
import { LOSSES as NEWER, LOSS_NAMES as NEWER_NAMES, type LossName as NewerName } from "./v0-3.ts";

const OWN_NAMES = ["certificates", "authorizationMetadata", "skillSecurity", "extendedCard"] as const;

export type LossName = NewerName | (typeof OWN_NAMES)[number];
export const LOSS_NAMES: readonly LossName[] = [...NEWER_NAMES, ...OWN_NAMES];

/** Information that 0.2 cannot encode: everything that 0.3 cannot encode, and more. */
export const LOSSES: Readonly<Record<LossName, Loss>> = {
  ...NEWER,
  otherData: {
    what: "data that is no object",
    becomes: 'a text with its JSON, marked in the metadata by "data_part_compat", from which it is read back',
  },
  listing: { what: "a list of tasks", becomes: "nothing" },
  certificates: {
    what: "that callers authenticate by certificate",
    becomes: "nothing; a requirement still names the scheme",
  },
  authorizationMetadata: { what: "where an OAuth server describes itself", becomes: "nothing" },
  skillSecurity: { what: "what one skill requires", becomes: "nothing; what the agent requires is said" },
  extendedCard: {
    what: "the extended card as a method, and its error",
    becomes: "a path of its own; the error has the code of an unsupported operation",
  },
};
