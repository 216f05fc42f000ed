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
  references: { what: "the related tasks that a message names", becomes: "nothing" },
  noHistory: {
    what: "that no history is wanted",
    becomes: "all of it, which is what 0 means here; our own client asks for one message",
  },
  requestMetadata: { what: "the metadata of requests that send no message", becomes: "nothing" },
  pushHeaders: {
    what: "the headers that a webhook wants to be sent",
    becomes: "nothing when they are read back; our own client does not send them",
  },
  severalFlows: { what: "all flows of an OAuth scheme but one", becomes: "nothing" },
  transitionHistory: { what: "that a task's metadata tells the states it has been in", becomes: "nothing on the card" },
};
