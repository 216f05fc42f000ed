import { invalidField } from "../../protocol/error.ts";
import { PUSH_EVENT_KINDS, type PushConfig, type PushEventKind } from "../../protocol/operation.ts";
import { asArray, asObject, asString, member, optionalId, optionalString, type WireObject } from "../fields/fields.ts";

/** How the server authenticates to a webhook. */
export type Authentication = NonNullable<PushConfig["authentication"]>;

/** Decodes `authentication`, which differs between versions. `undefined`: it is empty. */
type AuthenticationReader = (value: unknown, path: string) => Authentication | undefined;

/** Maximum number of additional headers of a webhook. */
const MAX_HEADERS = 32;
/** Maximum length of the URL, of a header name and of each header value, in UTF-16 code units. */
const MAX_TEXT_LENGTH = 8192;

/**
 * Decodes a webhook. Rejects values that an HTTP request cannot carry. The webhook config service checks whether the URL and the headers are
 * allowed. `path` is empty or ends with a dot.
 */
export function decodePushConfig(wire: WireObject, path: string, readAuthentication: AuthenticationReader): PushConfig {
  const id = optionalId(member(wire, "id"), `${path}id`);
  const url = optionalString(member(wire, "url"), `${path}url`);
  if (url === undefined) throw invalidField(`${path}url`, "is required");
  if (url.length > MAX_TEXT_LENGTH) throw invalidField(`${path}url`, tooLong());
  const token = optionalHeaderText(member(wire, "token"), `${path}token`);
  const declared = member(wire, "authentication");
  const authentication = declared === undefined ? undefined : readAuthentication(declared, `${path}authentication`);
  const headers = decodeHeaders(member(wire, "headers"), `${path}headers`);
  const events = decodeEvents(member(wire, "events"), `${path}events`);
  return {
    url,
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && { authentication }),
    ...(headers !== undefined && { headers }),
    ...(events !== undefined && { events }),
  };
}

/** Valid header names: `token` of RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** An empty object counts as absent, because some callers always write it. */
function decodeHeaders(value: unknown, path: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(asObject(value, path));
  if (entries.length === 0) return undefined;
  if (entries.length > MAX_HEADERS) throw invalidField(path, `must have at most ${MAX_HEADERS} headers`);
  return Object.fromEntries(entries.map(([name, text]) => [name, decodeHeader(name, text, path)]));
}

/** The error does not repeat an invalid header name: it may be long or contain any character. */
function decodeHeader(name: string, value: unknown, path: string): string {
  if (name.length > MAX_TEXT_LENGTH || !TOKEN.test(name)) throw invalidField(path, "has an invalid HTTP header name");
  return asHeaderText(value, `${path}.${name}`);
}

/** Valid header values: no control characters except tab, and only Latin-1. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * A text that can be the value of an HTTP header. Rejects line breaks: with them a caller could add headers of its own to notifications.
 */
export function asHeaderText(value: unknown, path: string): string {
  const text = asString(value, path);
  if (text.length > MAX_TEXT_LENGTH) throw invalidField(path, tooLong());
  if (!HEADER_TEXT.test(text)) throw invalidField(path, "has a character that is invalid in an HTTP header");
  return text;
}

/** Empty counts as absent. */
export function optionalHeaderText(value: unknown, path: string): string | undefined {
  return value === undefined ? undefined : asHeaderText(value, path) || undefined;
}

function tooLong(): string {
  return `must have at most ${MAX_TEXT_LENGTH} characters`;
}

/** An empty list counts as absent: all events. */
function decodeEvents(value: unknown, path: string): readonly PushEventKind[] | undefined {
  if (value === undefined) return undefined;
  const kinds = asArray(value, path, 16).map((item, index) => decodeEventKind(item, `${path}[${index}]`));
  return kinds.length === 0 ? undefined : [...new Set(kinds)];
}

function decodeEventKind(value: unknown, path: string): PushEventKind {
  const kind = PUSH_EVENT_KINDS.find((known) => known === value);
  if (kind === undefined) throw invalidField(path, `must be one of ${PUSH_EVENT_KINDS.join(", ")}`);
  return kind;
}
