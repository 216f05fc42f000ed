import type { RpcCodec } from "../codec.ts";
import type { DialectSettings } from "../options.ts";
import { createVariantRpcCodec, sharedByVersion } from "../v0_3/codec.ts";
import { encodeCard } from "./card.ts";
import { encodeError } from "./error.ts";
import { OUTPUT_FORMAT } from "./format.ts";
import { METHOD_OF } from "./methods.ts";

/** The vocabulary is that of the next version, which took it over and added to it. */
export function createRpcCodec(settings: DialectSettings): RpcCodec {
  const newer = sharedByVersion(settings);
  return createVariantRpcCodec(settings, {
    dialect: "0.2/jsonrpc",
    methods: METHOD_OF,
    // Its callers expect to name their tasks, as they could in the version before.
    shared: { ...newer, version: "0.2", policy: { ...newer.policy, namesTasks: true }, encodeError },
    format: OUTPUT_FORMAT,
    addsSuccess: false,
    encodeCard,
  });
}
