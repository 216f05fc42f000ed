import { invalidField } from "../../protocol/error.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { DataPart, Part, RawPart, UrlPart } from "../../protocol/part.ts";
import { toolResultPart, toolUsePart } from "../../protocol/tool-part.ts";
import { decodeBase64 } from "../fields/base64.ts";
import {
  asId,
  asJson,
  asObject,
  asString,
  member,
  optionalJsonObject,
  optionalString,
  type WireObject,
} from "../fields/fields.ts";
import { LENIENT, type Parsing } from "../fields/parsing.ts";
import { packData, packMetadata, unpackData, unpackText } from "./part-metadata.ts";

const KINDS = ["text", "file", "data"] as const;
type Kind = (typeof KINDS)[number];

/** Encodes a part in the format of 0.3. */
export function partObject(part: Part): object {
  return taggedPart(part, "kind");
}

/**
 * Encodes a part of 0.x. The member that distinguishes parts is `type` in 0.1 and `kind` later.
 * `{ text: "Hi" }` becomes `{ kind: "text", text: "Hi" }`.
 * `{ raw: "aGk=", mediaType: "image/png", filename: "a.png" }` becomes `{ kind: "file", file: { bytes: "aGk=", mimeType: "image/png", name: "a.png" } }`.
 * `{ url: "https://…" }` becomes `{ kind: "file", file: { uri: "https://…" } }`. `{ data: {…} }` becomes `{ kind: "data", data: {…} }`.
 */
export function taggedPart(part: Part, tag: "kind" | "type"): object {
  if (part.text !== undefined) return withMetadata({ [tag]: "text", text: part.text }, packMetadata(part));
  if (part.raw !== undefined)
    return withMetadata({ [tag]: "file", file: fileObject(part, { bytes: part.raw }) }, part.metadata);
  if (part.url !== undefined)
    return withMetadata({ [tag]: "file", file: fileObject(part, { uri: part.url }) }, part.metadata);
  const { data, metadata } = packData(part);
  return withMetadata({ [tag]: "data", data }, metadata);
}

function fileObject({ mediaType, filename }: Part, content: { bytes: string } | { uri: string }): object {
  return {
    ...content,
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
}

function withMetadata(part: object, metadata: JsonObject | undefined): object {
  return metadata === undefined ? part : { ...part, metadata };
}

/**
 * Decodes a part from a caller. Lenient: `kind` may be missing or named `type`, but must match the content; the kinds `tool-use` and
 * `tool-result` become data parts.
 */
export function decodePart(value: unknown, path: string, { tag, lenient }: Parsing = LENIENT): Part {
  const wire = asObject(value, path);
  const other = tag === "kind" ? "type" : "kind";
  const named = lenient && member(wire, tag) === undefined ? other : tag;
  const kind = member(wire, named);
  if (kind === undefined && !lenient) throw invalidField(`${path}.${tag}`, "is required");
  if (lenient && isToolKind(kind)) return decodeToolPart(wire, kind, path);
  if (kind !== undefined && !isKind(kind)) throw invalidField(`${path}.${named}`, `must be ${KINDS.join(", ")}`);
  return contentOf(wire, kind, { path, lenient });
}

/** Decodes a part from an agent. An unknown `kind` is ignored: the content decides. */
export function decodeRemotePart(value: unknown, path: string): Part {
  const wire = asObject(value, path);
  const kind = member(wire, "kind", "type");
  if (isToolKind(kind)) return decodeToolPart(wire, kind, path);
  return contentOf(wire, isKind(kind) ? kind : undefined, { path, lenient: true });
}

type ToolKind = "tool-use" | "tool-result";

function isToolKind(value: unknown): value is ToolKind {
  return value === "tool-use" || value === "tool-result";
}

/** Decodes the kinds `tool-use` and `tool-result`, which some callers and agents use, as data parts. */
function decodeToolPart(wire: WireObject, kind: ToolKind, path: string): DataPart {
  const toolUseId = asId(member(wire, "toolUseId"), `${path}.toolUseId`);
  const own = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  const part = kind === "tool-use" ? decodeToolUse(wire, toolUseId, path) : decodeToolResult(wire, toolUseId, path);
  return { ...part, metadata: { ...own, ...part.metadata } };
}

/**
 * `{"kind":"tool-use","toolUseId":"r1","name":"search","input":{…}}` becomes a data part with `metadata.kind` = `tool-use`.
 */
function decodeToolUse(wire: WireObject, toolUseId: string, path: string): DataPart {
  const { input } = wire;
  return toolUsePart({
    toolUseId,
    name: asId(member(wire, "name"), `${path}.name`),
    ...(input !== undefined && { input: asJson(input, `${path}.input`) }),
  });
}

function decodeToolResult({ result }: WireObject, toolUseId: string, path: string): DataPart {
  if (result === undefined) throw invalidField(`${path}.result`, "is required");
  return toolResultPart({ toolUseId, result: asJson(result, `${path}.result`) });
}

function isKind(value: unknown): value is Kind {
  return KINDS.some((kind) => kind === value);
}

/** The path of the part in errors, and how it is parsed. */
interface Place {
  readonly path: string;
  readonly lenient: boolean;
}

/** Rejects a part with two contents: it would be unclear which one the caller means. */
function contentOf(wire: WireObject, kind: Kind | undefined, { path, lenient }: Place): Part {
  const content = kind ?? inferKind(wire, path);
  for (const other of KINDS) {
    if (other !== content && member(wire, other) !== undefined)
      throw invalidField(path, `must have only one of text, file and data: ${content}, not ${other}`);
  }
  const value = wire[content];
  if (value === undefined || (value === null && content !== "data"))
    throw invalidField(`${path}.${content}`, "is required");
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  if (content === "text") {
    const part = unpackText(asString(value, `${path}.text`), metadata);
    if (part.data !== undefined) asJson(part.data, `${path}.text`);
    return part;
  }
  if (content === "file")
    return { ...decodeFile(value, { path: `${path}.file`, lenient }), ...(metadata !== undefined && { metadata }) };
  // Safe: parsed JSON. `asJson` checks its limits after unwrapping.
  const part = unpackData(value as JsonValue, metadata);
  asJson(part.data, `${path}.data`);
  return part;
}

/** `null` counts as absent, unless the part has only `data: null`. */
function inferKind(wire: WireObject, path: string): Kind {
  const found = KINDS.find((kind) => member(wire, kind) !== undefined);
  if (found !== undefined) return found;
  if (wire["data"] === null) return "data";
  throw invalidField(path, "must have one of text, file and data");
}

/**
 * `{"bytes":"aGk=","mimeType":"text/plain","name":"a.txt"}` becomes `{ raw: "aGk=", mediaType: "text/plain", filename: "a.txt" }`.
 */
function decodeFile(value: unknown, place: Place): RawPart | UrlPart {
  const { path } = place;
  const wire = asObject(value, path);
  const mediaType = optionalString(member(wire, "mimeType"), `${path}.mimeType`);
  const filename = optionalString(member(wire, "name"), `${path}.name`);
  return {
    ...decodeFileContent(wire, place),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  };
}

/** The content members of a file (A2A 0.3 §6.6). */
const CONTENTS = ["bytes", "uri"];
/** Examples in the specification have `data` instead of `bytes`, and `url` instead of `uri`. */
const LENIENT_CONTENTS = ["bytes", "data", "uri", "url"];

function decodeFileContent(wire: WireObject, { path, lenient }: Place): RawPart | UrlPart {
  const names = lenient ? LENIENT_CONTENTS : CONTENTS;
  const [name, other] = names.filter((candidate) => member(wire, candidate) !== undefined);
  if (name === undefined) throw invalidField(path, "must have bytes or uri");
  if (other !== undefined)
    throw invalidField(path, `must have only one of bytes and uri, not both ${name} and ${other}`);
  const text = asString(wire[name], `${path}.${name}`);
  if (name === "bytes" || name === "data") return { raw: decodeBase64(text, `${path}.${name}`) };
  if (text === "") throw invalidField(`${path}.${name}`, "must not be empty");
  return { url: text };
}
