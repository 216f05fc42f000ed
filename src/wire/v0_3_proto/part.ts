import { invalidField } from "../../protocol/error.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { DataPart, Part, RawPart, UrlPart } from "../../protocol/part.ts";
import { decodeBase64 } from "../fields/base64.ts";
import {
  asJson,
  asObject,
  asString,
  member,
  optionalJsonObject,
  optionalString,
  type WireObject,
} from "../fields/fields.ts";
import { packData, packMetadata, unpackData, unpackMetadata } from "../v0_3/part-metadata.ts";

/**
 * Encodes a part in proto style: the name of its only content member says what it is.
 * `{ text: "Hi" }` stays as it is. `{ raw: "aGk=", filename: "a.txt" }` becomes `{ file: { fileWithBytes: "aGk=", name: "a.txt" } }`.
 * `{ data: { a: 1 } }` becomes `{ data: { data: { a: 1 } } }`.
 */
export function partObject(part: Part): object {
  if (part.text !== undefined) return withMetadata({ text: part.text }, packMetadata(part));
  if (part.raw !== undefined) return fileObject(part, { fileWithBytes: part.raw });
  if (part.url !== undefined) return fileObject(part, { fileWithUri: part.url });
  const { data, metadata } = packData(part);
  return withMetadata({ data: { data } }, metadata);
}

function fileObject({ mediaType, filename, metadata }: Part, content: object): object {
  const file = {
    ...content,
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return withMetadata({ file }, metadata);
}

function withMetadata(part: object, metadata: JsonObject | undefined): object {
  return metadata === undefined ? part : { ...part, metadata };
}

const CONTENTS = ["text", "file", "data"] as const;

/** Reverses `partObject`, for callers and agents. Throws `invalid-params` unless the part has exactly one content. */
export function decodePart(value: unknown, path: string): Part {
  const wire = asObject(value, path);
  const content = contentOf(wire, path);
  const metadata = optionalJsonObject(member(wire, "metadata"), `${path}.metadata`);
  if (content === "text") return { text: asString(wire["text"], `${path}.text`), ...unpackMetadata(metadata) };
  if (content === "data") return decodeData(wire["data"], metadata, path);
  return { ...decodeFile(wire["file"], `${path}.file`), ...(metadata !== undefined && { metadata }) };
}

function contentOf(wire: WireObject, path: string): (typeof CONTENTS)[number] {
  const [found, other] = CONTENTS.filter((content) => member(wire, content) !== undefined);
  if (found === undefined) throw invalidField(path, "must have one of text, file and data");
  if (other !== undefined)
    throw invalidField(path, `must have only one of text, file and data, not both ${found} and ${other}`);
  return found;
}

/** By the definition, data is an object. Other values are accepted, except `null`, which counts as absent. */
function decodeData(value: unknown, metadata: JsonObject | undefined, path: string): DataPart {
  const data = member(asObject(value, `${path}.data`), "data");
  if (data === undefined) throw invalidField(`${path}.data.data`, "is required");
  // Safe: parsed JSON. `asJson` checks its limits after unwrapping.
  const part = unpackData(data as JsonValue, metadata);
  asJson(part.data, `${path}.data.data`);
  return part;
}

/**
 * `{"fileWithUri":"https://…","mimeType":"image/png"}` becomes `{ url: "https://…", mediaType: "image/png" }`.
 */
function decodeFile(value: unknown, path: string): RawPart | UrlPart {
  const wire = asObject(value, path);
  const mediaType = optionalString(member(wire, "mimeType", "mime_type"), `${path}.mimeType`);
  const filename = optionalString(member(wire, "name"), `${path}.name`);
  return {
    ...decodeFileContent(wire, path),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  };
}

/** Some clients always write both members, the unused one as an empty string. */
function decodeFileContent(wire: WireObject, path: string): RawPart | UrlPart {
  const bytes = member(wire, "fileWithBytes", "file_with_bytes");
  const uri = optionalString(member(wire, "fileWithUri", "file_with_uri"), `${path}.fileWithUri`);
  if (bytes === undefined) {
    if (uri === undefined) throw invalidField(path, "must have fileWithBytes or fileWithUri");
    return { url: uri };
  }
  const raw = decodeBase64(asString(bytes, `${path}.fileWithBytes`), `${path}.fileWithBytes`);
  if (uri === undefined) return { raw };
  if (raw === "") return { url: uri };
  throw invalidField(path, "must have only one of fileWithBytes and fileWithUri");
}
