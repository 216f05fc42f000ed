import { invalidField } from "./error.ts";
import type { JsonObject } from "./json.ts";

/**
 * The agents that a message passed through, oldest first: `<server id>/<agent id>` each. Empty for a message that a person or
 * a program sent directly. Its length is the number of hops. `docs/reference/call-path.md` describes the format.
 */
export type CallPath = readonly string[];

/** The request header that holds the path: its entries, separated by commas. */
export const CALL_PATH_HEADER = "palaver-call-path";

/** The member of a send request's `metadata` that holds the path as an array of strings, for proxies that remove unknown headers. */
export const CALL_PATH_KEY = "urn:palaver:call-path";

/** Maximum number of entries, whatever a server is configured to accept. */
export const MAX_CALL_PATH = 64;

/** Default of the number of hops that a server accepts. */
export const DEFAULT_MAX_HOPS = 16;

/** The path of a message that no agent has forwarded. */
export const NO_CALL_PATH: CallPath = [];

const ENTRY = /^[\w.~:@/-]{1,160}$/;
/** Each entry has at most 160 characters, and a comma and a space follow it. */
const MAX_HEADER_LENGTH = MAX_CALL_PATH * 162;
const ENTRIES = "of 1 to 160 letters, digits and . _ ~ : @ / -";

/** The entry of one agent of one server. */
export function callPathEntry(serverId: string, agentId: string): string {
  return `${serverId}/${agentId}`;
}

/** The value of the header: `["a1/billing", "b2/mail"]` becomes `a1/billing, b2/mail`. */
export function writeCallPath(path: CallPath): string {
  return path.join(", ");
}

/**
 * Parses the value of the header: `a1/billing, b2/mail` becomes `["a1/billing", "b2/mail"]`. An empty value is an empty path. Throws
 * `invalid-params` with the header's name if it is malformed.
 */
export function parseCallPath(value: string): CallPath {
  if (value.trim() === "") return NO_CALL_PATH;
  // Check the length before splitting, so that a long value costs nothing.
  const path = value.length > MAX_HEADER_LENGTH ? undefined : value.split(",").map((entry) => entry.trim());
  if (path === undefined || !isCallPath(path)) {
    throw invalidField(
      "Palaver-Call-Path",
      `must be at most ${MAX_CALL_PATH} entries separated by commas, each ${ENTRIES}`,
    );
  }
  return path;
}

/** The path in a send request's metadata. Throws `invalid-params` with the member's name if it is malformed. */
export function callPathIn(metadata: JsonObject): CallPath {
  const value = metadata[CALL_PATH_KEY];
  if (value === undefined) return NO_CALL_PATH;
  const entries: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (entries !== undefined && isCallPath(entries)) return entries;
  throw invalidField(`metadata["${CALL_PATH_KEY}"]`, `must be an array of at most ${MAX_CALL_PATH} strings ${ENTRIES}`);
}

/** The same metadata without the path. */
export function withoutCallPath({ [CALL_PATH_KEY]: _, ...metadata }: JsonObject): JsonObject {
  return metadata;
}

/**
 * Merges the paths of the header and of the metadata: the longer one, then the entries that only the other one has. Neither may be dropped:
 * a proxy may have removed one of them, and a missing entry would hide a loop. Cut after {@link MAX_CALL_PATH} entries, which no server
 * accepts.
 */
export function joinCallPaths(one: CallPath, other: CallPath): CallPath {
  const [longer, shorter] = one.length >= other.length ? [one, other] : [other, one];
  const missing = shorter.filter((entry) => !longer.includes(entry));
  return missing.length === 0 ? longer : [...longer, ...missing].slice(0, MAX_CALL_PATH);
}

function isCallPath(value: readonly unknown[]): value is CallPath {
  return value.length <= MAX_CALL_PATH && value.every((entry) => typeof entry === "string" && ENTRY.test(entry));
}
