import { invalidField } from "./error.ts";
import type { JsonObject } from "./json.ts";

/**
 * The agents that a message has passed on its way here, oldest first: `<server id>/<agent id>` each. Empty for a message that a person or
 * a program sent itself. Its length is the number of hops. `docs/reference/call-path.md` describes the format.
 */
export type CallPath = readonly string[];

/** The request header that holds the path: its entries, separated by commas. */
export const CALL_PATH_HEADER = "palaver-call-path";

/** The member of a send request's `metadata` that holds the path as an array of strings, for proxies that remove unknown headers. */
export const CALL_PATH_KEY = "urn:palaver:call-path";

/** Entries of a path at most, whatever a server allows. */
export const MAX_CALL_PATH = 64;

/** Hops that a server accepts unless it is configured otherwise. */
export const DEFAULT_MAX_HOPS = 16;

export const NO_CALL_PATH: CallPath = [];

const ENTRY = /^[\w.~:@/-]{1,160}$/;
const MAX_HEADER_LENGTH = MAX_CALL_PATH * 162;
const ENTRIES = "of 1 to 160 letters, digits and . _ ~ : @ / -";

/** The entry of one agent of one server. */
export function callPathEntry(serverId: string, agentId: string): string {
  return `${serverId}/${agentId}`;
}

/** The value of the header. */
export function writeCallPath(path: CallPath): string {
  return path.join(", ");
}

/** The path of a header's value. Throws `invalid-params`, naming the header, if it is malformed. An empty value is an empty path. */
export function parseCallPath(value: string): CallPath {
  if (value.trim() === "") return NO_CALL_PATH;
  // Checked before it is split: a long value must not cost anything.
  const path = value.length > MAX_HEADER_LENGTH ? undefined : value.split(",").map((entry) => entry.trim());
  if (path === undefined || !isCallPath(path)) {
    throw invalidField(
      "Palaver-Call-Path",
      `must be at most ${MAX_CALL_PATH} entries separated by commas, each ${ENTRIES}`,
    );
  }
  return path;
}

/** The path that a send request's metadata holds. Throws `invalid-params`, naming the member, if it is malformed. */
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
 * One path that has every entry of both: the longer one, then what only the other one has. Cut after {@link MAX_CALL_PATH} entries, which
 * no server accepts.
 */
export function joinCallPaths(one: CallPath, other: CallPath): CallPath {
  const [longer, shorter] = one.length >= other.length ? [one, other] : [other, one];
  const missing = shorter.filter((entry) => !longer.includes(entry));
  return missing.length === 0 ? longer : [...longer, ...missing].slice(0, MAX_CALL_PATH);
}

function isCallPath(value: readonly unknown[]): value is CallPath {
  return value.length <= MAX_CALL_PATH && value.every((entry) => typeof entry === "string" && ENTRY.test(entry));
}
