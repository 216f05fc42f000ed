import type { RpcCodec } from "../codec.ts";
import type { DialectSettings } from "../options.ts";
import { createVariantRpcCodec, sharedByVersion } from "../v0_3/codec.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { OUTPUT_FORMAT } from "./format.ts";
import { METHOD_OF } from "./methods.ts";

/** JSON-RPC of 0.2. Its objects are those of 0.3, which added to them. */
export function createRpcCodec(settings: DialectSettings): RpcCodec {
  const newer = sharedByVersion(settings);
  return createVariantRpcCodec(settings, {
    dialect: "0.2/jsonrpc",
    methods: METHOD_OF,
    // Callers of 0.2 may choose task ids, as in 0.1.
    shared: { ...newer, version: "0.2", policy: { ...newer.policy, namesTasks: true }, encodeError },
    format: OUTPUT_FORMAT,
    addsSuccess: false,
    encodeCard,
  });
}
