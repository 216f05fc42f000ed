import type { PushCodec } from "../codec.ts";
import type { DialectOptions } from "../options.ts";
import { pushOf } from "../registry.ts";

/** The part of the options that says what webhooks are sent as. */
export type PushCodecOptions = Pick<DialectOptions, "restMediaType">;

/**
 * What webhooks are sent that were registered in this dialect; `undefined` if it has none. The version alone decides, however it is
 * bound; and whether it is still spoken does not: who registered earlier is still told.
 */
export function pushCodecOf(dialect: string, { restMediaType }: PushCodecOptions = {}): PushCodec | undefined {
  const [version = ""] = dialect.split("/", 1);
  const codec = pushOf(version);
  if (codec === undefined || restMediaType === undefined || codec.mediaType === "application/json") return codec;
  return { ...codec, mediaType: restMediaType };
}
