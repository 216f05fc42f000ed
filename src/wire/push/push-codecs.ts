import type { PushCodec } from "../codec.ts";
import type { DialectOptions } from "../options.ts";
import { pushOf } from "../registry.ts";

/** The options that affect notifications. */
export type PushCodecOptions = Pick<DialectOptions, "restMediaType">;

/**
 * The codec for webhooks that were registered in `dialect`; `undefined` if its version has no webhooks. Only the version matters, not the
 * binding. A version that the server no longer supports still has its codec, so that existing webhooks keep working.
 */
export function pushCodecOf(dialect: string, { restMediaType }: PushCodecOptions = {}): PushCodec | undefined {
  const [version = ""] = dialect.split("/", 1);
  const codec = pushOf(version);
  if (codec === undefined || restMediaType === undefined || codec.mediaType === "application/json") return codec;
  return { ...codec, mediaType: restMediaType };
}
