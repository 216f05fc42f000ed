import type { Loss } from "./loss.ts";

export const LOSS_NAMES = [
  "partDetails",
  "otherData",
  "tenant",
  "listing",
  "waitingTime",
  "pushEvents",
  "otherInterfaces",
  "devices",
  "laterErrors",
] as const;
export type LossName = (typeof LOSS_NAMES)[number];

/** Information that 0.3 cannot encode. Everything else decodes to the encoded value. */
export const LOSSES: Readonly<Record<LossName, Loss>> = {
  partDetails: {
    what: "the media type and file name of a text or data part",
    becomes: "members of the part's metadata; the server reads them back",
  },
  otherData: {
    what: "data that is not an object",
    becomes:
      'an object with the data as `value`, marked with "data_part_compat" in the metadata; the server reads it back',
  },
  tenant: { what: "the tenant of a request", becomes: "nothing; each tenant has its own URL of the agent" },
  listing: {
    what: "filters and pages of a task list",
    becomes: "the newest 100 tasks over REST; over JSON-RPC tasks cannot be listed",
  },
  waitingTime: { what: "the maximum time that a send waits", becomes: "the choice to wait or not" },
  pushEvents: {
    what: "the choice of events that a webhook receives",
    becomes: "nothing when the webhook is read; the choice still applies",
  },
  otherInterfaces: { what: "the addresses of other versions", becomes: "nothing" },
  devices: {
    what: "the OAuth device flow, and the requirement of PKCE",
    becomes: "nothing; a scheme without another flow keeps its name",
  },
  laterErrors: {
    what: "error codes that later versions introduced",
    becomes: "the nearest code; the `reason` in the error data is the original one",
  },
};
