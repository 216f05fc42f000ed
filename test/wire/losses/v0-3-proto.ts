import type { Loss } from "./loss.ts";
import { LOSSES as VERSION, LOSS_NAMES as VERSION_NAMES, type LossName as VersionName } from "./v0-3.ts";

const OWN_NAMES = [
  "references",
  "noHistory",
  "requestMetadata",
  "pushHeaders",
  "severalFlows",
  "transitionHistory",
] as const;

export type LossName = VersionName | (typeof OWN_NAMES)[number];
export const LOSS_NAMES: readonly LossName[] = [...VERSION_NAMES, ...OWN_NAMES];

/** Information that the proto style cannot encode: everything that the JSON style cannot encode, and more. */
export const LOSSES: Readonly<Record<LossName, Loss>> = {
  ...VERSION,
  references: { what: "the reference tasks of a message", becomes: "nothing" },
  noHistory: {
    what: "a request for no history",
    becomes: "the whole history, which a length of 0 requests here; our own client requests one message",
  },
  requestMetadata: { what: "the metadata of requests without a message", becomes: "nothing" },
  pushHeaders: {
    what: "the custom headers of a webhook",
    becomes: "nothing when the webhook is read; our own client does not send them",
  },
  severalFlows: { what: "all flows of an OAuth scheme except one", becomes: "nothing" },
  transitionHistory: {
    what: "the capability to list earlier states in the task metadata",
    becomes: "nothing on the card",
  },
};
