import { A2AError, invalidField } from "../protocol/error.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { MASK } from "./webhook-target.ts";

/** Throws where a URL must not be called, as far as that is known without looking its name up. */
export type CheckUrl = (url: string, field: string) => unknown;

const MAX_URL = 2048;
const MAX_SECRET = 4096;
const MAX_HEADERS = 16;
const MAX_HEADER_NAME = 128;
const MAX_SCHEMES = 16;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What every server and proxy takes for one header: no line ends, no control characters, nothing beyond ASCII. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** Headers that say how a message travels, or what only this server knows. */
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
]);
const DENIED_PREFIXES: readonly string[] = ["x-a2a-", "a2a-", "proxy-"];

/** Throws an error that names the field, beginning with `field`, for a configuration that must not be kept. */
export function checkConfig(config: PushConfig, field: string, checkUrl: CheckUrl): void {
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  const { url, token, authentication, headers } = config;
  if (url.length > MAX_URL) throw invalidField(at("url"), `must have at most ${MAX_URL} characters`);
  refusing(at("url"), () => checkUrl(url, at("url")));
  if (token !== undefined) checkSecret(token, at("token"));
  if (authentication !== undefined) {
    const { schemes, credentials } = authentication;
    if (schemes.length > MAX_SCHEMES)
      throw invalidField(at("authentication.schemes"), `must have at most ${MAX_SCHEMES} items`);
    if (!schemes.every((scheme) => SCHEME.test(scheme)))
      throw invalidField(at("authentication.schemes"), "must name a scheme of HTTP authentication, such as Bearer");
    if (credentials !== undefined) checkSecret(credentials, at("authentication.credentials"));
  }
  if (headers !== undefined) checkHeaders(headers, at("headers"), authentication !== undefined);
}

function checkHeaders(headers: Readonly<Record<string, string>>, field: string, authenticated: boolean): void {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw invalidField(field, `must have at most ${MAX_HEADERS} members`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    if (name.length > MAX_HEADER_NAME || !HEADER_NAME.test(name))
      throw invalidField(field, `must have names of HTTP headers, of at most ${MAX_HEADER_NAME} characters`);
    const lower = name.toLowerCase();
    if (DENIED.has(lower) || DENIED_PREFIXES.some((prefix) => lower.startsWith(prefix)))
      throw invalidField(`${field}.${name}`, "is not for callers to set");
    if (lower === "authorization" && authenticated)
      throw invalidField(`${field}.${name}`, "must not be set beside authentication");
    if (seen.has(lower)) throw invalidField(`${field}.${name}`, "is there twice");
    seen.add(lower);
    checkSecret(value, `${field}.${name}`);
  }
}

/** Everything secret travels in a header. */
function checkSecret(value: string, field: string): void {
  if (value.length > MAX_SECRET) throw invalidField(field, `must have at most ${MAX_SECRET} characters`);
  // Whoever reads a configuration and sets it again would replace the secret without noticing.
  if (value === MASK) throw invalidField(field, `must be the secret itself: ${MASK} only stands for it in answers`);
  if (!HEADER_VALUE.test(value)) throw invalidField(field, "must be printable ASCII: it is sent as a header");
}

function refusing(field: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (error instanceof A2AError) throw error;
    throw invalidField(field, error instanceof Error ? error.message : "must not be called");
  }
}
