import { invalidField } from "../../protocol/error.ts";
import { PUSH_EVENT_KINDS, type PushConfig, type PushEventKind } from "../../protocol/operation.ts";
import { asArray, asObject, asString, member, optionalId, optionalString, type WireObject } from "../fields/fields.ts";

/** How we are to authenticate where we notify. */
export type Authentication = NonNullable<PushConfig["authentication"]>;

/** Versions spell it each in their own way; `undefined` where it says nothing. */
type AuthenticationReader = (value: unknown, path: string) => Authentication | undefined;

const MAX_HEADERS = 32;
/** Of an address, of a name and of each text that is sent along, in UTF-16 units. */
const MAX_TEXT_LENGTH = 8192;

/**
 * Where to notify a caller, as the caller says it. Whether we go there, and which headers are ours to set, is for others to say; what
 * no request could carry is refused here. `path` ends in a dot, unless it is empty.
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

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** An empty object says nothing: there are callers that always write it. */
function decodeHeaders(value: unknown, path: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(asObject(value, path));
  if (entries.length === 0) return undefined;
  if (entries.length > MAX_HEADERS) throw invalidField(path, `must have at most ${MAX_HEADERS} headers`);
  return Object.fromEntries(entries.map(([name, text]) => [name, decodeHeader(name, text, path)]));
}

/** A name that is none is not repeated in the refusal: it may be long, and it may be anything. */
function decodeHeader(name: string, value: unknown, path: string): string {
  if (name.length > MAX_TEXT_LENGTH || !TOKEN.test(name))
    throw invalidField(path, "has a name that no header can have");
  return asHeaderText(value, `${path}.${name}`);
}

/** What the field of an HTTP message may hold: no line break, and nothing beyond Latin-1. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

export function asHeaderText(value: unknown, path: string): string {
  const text = asString(value, path);
  if (text.length > MAX_TEXT_LENGTH) throw invalidField(path, tooLong());
  if (!HEADER_TEXT.test(text)) throw invalidField(path, "has a character that no header can carry");
  return text;
}

/** Empty counts as left out. */
export function optionalHeaderText(value: unknown, path: string): string | undefined {
  return value === undefined ? undefined : asHeaderText(value, path) || undefined;
}

function tooLong(): string {
  return `must have at most ${MAX_TEXT_LENGTH} characters`;
}

/** None at all means all of them, as if it had been left out. */
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
