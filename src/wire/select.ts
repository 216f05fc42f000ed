import { A2AError } from "../protocol/error.ts";
import type { Codec } from "./codec.ts";
import { codec as v1_0 } from "./v1_0/codec.ts";

const CODECS: readonly Codec[] = [v1_0];

/** Every version spoken here, newest first, as `Major.Minor`. */
export const VERSIONS: readonly string[] = CODECS.map((codec) => codec.version);

/** What speaks where no version can be told: answers to unreadable requests, and the card. */
export const defaultCodec: Codec = v1_0;

/**
 * The codec for a JSON-RPC call. `requested` is what the caller's `A2A-Version` says, if anything. A version that is not
 * spoken here is refused; otherwise the method's grammar decides, because callers that name no version are common and the
 * grammars of the versions do not overlap. The codec may still not know the method.
 */
export function selectCodec(requested: string | undefined, method: string): Codec {
  checkVersion(requested);
  return CODECS.find((codec) => codec.operationOf(method) !== undefined) ?? defaultCodec;
}

function checkVersion(requested: string | undefined): void {
  if (requested === undefined || VERSIONS.includes(requested)) return;
  const asked = requested.trim();
  if (asked === "") return;
  const [, version] = /^(\d{1,3}\.\d{1,3})(?:\.\d{1,5})?$/.exec(asked) ?? [];
  if (version !== undefined && VERSIONS.includes(version)) return;
  throw new A2AError("version-not-supported", `This server speaks A2A ${VERSIONS.join(", ")}`, {
    metadata: { supportedVersions: VERSIONS.join(",") },
  });
}
