import { A2AError, invalidField } from "../protocol/error.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { MASK } from "./webhook-target.ts";

/** Throws if requests to a URL are not allowed. Does not resolve host names. */
export type CheckUrl = (url: string, field: string) => unknown;

/** The limits below are in characters, or in numbers of items. */
const MAX_URL = 2048;
const MAX_SECRET = 4096;
const MAX_HEADERS = 16;
const MAX_HEADER_NAME = 128;
const MAX_SCHEMES = 16;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable ASCII: every server and proxy reads it as exactly one header value. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** Headers that callers must not set: they control the transfer, or the server sets them itself. */
const DENIED: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "traceparent",
  "tracestate",
  "tracestate",
]);
/** Headers of the protocol, and of proxies between the server and the receiver. */
const DENIED_PREFIXES: readonly string[] = ["x-a2a-", "a2a-", "proxy-"];

/** Throws `invalid-params` for an invalid configuration. The error names the wrong field by its path, which begins with `field`. */
export function checkConfig(config: PushConfig, field: string, checkUrl: CheckUrl): void {
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  const { url, token, authentication, headers } = config;
  if (url.length > MAX_URL) throw invalidField(at("url"), `must have at most ${MAX_URL} characters`);
  asInvalidField(at("url"), () => checkUrl(url, at("url")));
  if (token !== undefined) checkSecret(token, at("token"));
  if (authentication !== undefined) {
    const { schemes, credentials } = authentication;
    if (schemes.length > MAX_SCHEMES)
      throw invalidField(at("authentication.schemes"), `must have at most ${MAX_SCHEMES} items`);
    if (!schemes.every((scheme) => SCHEME.test(scheme)))
      throw invalidField(at("authentication.schemes"), "must be names of HTTP authentication schemes, such as Bearer");
    if (credentials !== undefined) checkSecret(credentials, at("authentication.credentials"));
  }
  if (headers !== undefined) checkHeaders(headers, at("headers"), authentication !== undefined);
}

/** `authenticated`: the configuration has credentials, which the header `Authorization` carries. */
function checkHeaders(headers: Readonly<Record<string, string>>, field: string, authenticated: boolean): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw invalidField(field, `must have at most ${MAX_HEADERS} members`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    if (name.length > MAX_HEADER_NAME || !HEADER_NAME.test(name))
      throw invalidField(field, `must have valid HTTP header names of at most ${MAX_HEADER_NAME} characters`);
    const lower = name.toLowerCase();
    if (DENIED.has(lower) || DENIED_PREFIXES.some((prefix) => lower.startsWith(prefix)))
      throw invalidField(`${field}.${name}`, "is set by the server and cannot be configured");
    if (lower === "authorization" && authenticated)
      throw invalidField(`${field}.${name}`, "must not be set together with authentication");
    if (seen.has(lower)) throw invalidField(`${field}.${name}`, "is set twice (header names ignore case)");
    seen.add(lower);
    checkSecret(value, `${field}.${name}`);
  }
}

/** Every secret is sent as a header value. */
function checkSecret(value: string, field: string): void {
  if (value.length > MAX_SECRET) throw invalidField(field, `must have at most ${MAX_SECRET} characters`);
  // A client that reads a configuration and writes it back would overwrite the secret with the mask.
  if (value === MASK) throw invalidField(field, `must be the secret itself, not the mask ${MASK} that answers contain`);
  if (!HEADER_VALUE.test(value)) throw invalidField(field, "must be printable ASCII, because it is sent as a header");
}

/** Runs a check; whatever it throws becomes an error of this field. */
function asInvalidField(field: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (error instanceof A2AError) throw error;
    throw invalidField(field, error instanceof Error ? error.message : "is not allowed");
  }
}
