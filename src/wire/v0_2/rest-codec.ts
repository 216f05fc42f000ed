import type { RestCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import type { DialectSettings } from "../options.ts";
import { createRpcCodec } from "./codec.ts";

/** What this version gives by path: an extended card, or the status that says why not. What the body of that holds is free. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  const { version, policy, extensionsHeader, encodeResult, encodeOpening, encodeEvent, encodeError, largeTask } =
    createRpcCodec(settings);
  return {
    ...{ version, extensionsHeader, encodeResult, encodeOpening, encodeEvent, encodeError, largeTask },
    dialect: "0.2/rest",
    // Section 7.10: 403 for a caller that is not authorized to access the card, 404 where there is none at all.
    policy: { ...policy, deniedExtendedCard: "permission-denied" },
    decodeRequest: () => ({ operation: "extended-card", tenant: "" }),
    statusOf: ({ code }) => ERROR_TABLE[code].http0_3,
    mediaTypes: ["application/json"],
  };
}
