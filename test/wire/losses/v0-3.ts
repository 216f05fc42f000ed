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
    what: "the media type and the file name of a text or data part",
    becomes: "members of the part's metadata, from which they are read back",
  },
  otherData: {
    what: "data that is no object",
    becomes:
      'an object that holds it as `value`, marked in the metadata by "data_part_compat", from which it is read back',
  },
  tenant: { what: "the tenant of a request", becomes: "nothing; agents of different tenants have different URLs" },
  listing: {
    what: "filters and pages of a list of tasks",
    becomes: "the newest 100 tasks over REST; over JSON-RPC tasks cannot be listed",
  },
  waitingTime: { what: "how long a send waits", becomes: "whether it waits" },
  pushEvents: {
    what: "which events a webhook is told of",
    becomes: "nothing when it is read back; it counts all the same",
  },
  otherInterfaces: { what: "where other versions are spoken", becomes: "nothing" },
  devices: {
    what: "the OAuth flow for devices, and that a flow requires PKCE",
    becomes: "nothing; a scheme with no other flow keeps its name",
  },
  laterErrors: {
    what: "the codes of errors that came with later versions",
    becomes: "the nearest code; the reason in the error's data still tells them apart",
  },
};
