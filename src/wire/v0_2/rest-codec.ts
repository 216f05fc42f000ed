import type { RestCodec } from "../codec.ts";
import { ERROR_TABLE } from "../error-table.ts";
import type { DialectSettings } from "../options.ts";
import { createRpcCodec } from "./codec.ts";

/** The extended card of 0.2 as a REST path. Errors are HTTP statuses; 0.2 does not define their bodies. */
export function createRestCodec(settings: DialectSettings): RestCodec {
  const { version, policy, extensionsHeader, encodeResult, encodeOpening, encodeEvent, encodeError, largeTask } =
    createRpcCodec(settings);
  return {
    ...{ version, extensionsHeader, encodeResult, encodeOpening, encodeEvent, encodeError, largeTask },
    dialect: "0.2/rest",
    // A2A 0.2 §7.10: 403 for a caller that may not access the card, 404 if the agent has no extended card.
    policy: { ...policy, deniedExtendedCard: "permission-denied" },
    decodeRequest: () => ({ operation: "extended-card", tenant: "" }),
    statusOf: ({ code }) => ERROR_TABLE[code].http0_3,
    mediaTypes: ["application/json"],
  };
}
