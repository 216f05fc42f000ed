import type { Loss } from "./loss.ts";
import { LOSSES as NEWER, LOSS_NAMES as NEWER_NAMES, type LossName as NewerName } from "./v0-3.ts";

const OWN_NAMES = ["certificates", "authorizationMetadata", "skillSecurity", "extendedCard"] as const;

export type LossName = NewerName | (typeof OWN_NAMES)[number];
export const LOSS_NAMES: readonly LossName[] = [...NEWER_NAMES, ...OWN_NAMES];

/** Information that 0.2 cannot encode: everything that 0.3 cannot encode, and more. */
export const LOSSES: Readonly<Record<LossName, Loss>> = {
  ...NEWER,
  otherData: {
    what: "data that is not an object",
    becomes: 'a text part with the JSON, marked with "data_part_compat" in the metadata; the server reads it back',
  },
  listing: { what: "the task list", becomes: "nothing" },
  certificates: {
    what: "the mutual TLS scheme (client certificates)",
    becomes: "nothing; requirements still name the scheme",
  },
  authorizationMetadata: { what: "the URL of the OAuth server metadata", becomes: "nothing" },
  skillSecurity: {
    what: "the security requirements of a skill",
    becomes: "nothing; the requirements of the agent remain",
  },
  extendedCard: {
    what: "the method for the extended card, and its error code",
    becomes: "a GET of a separate path; the error has the code for an unsupported operation",
  },
};
