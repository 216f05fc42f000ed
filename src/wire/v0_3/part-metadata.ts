import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { DataPart, Part } from "../../protocol/part.ts";

/**
 * Text and data parts of 0.x have no members for media type and file name, so these are written as `mediaType` and `filename` of the
 * metadata. Data that is not an object is wrapped as `{"value": …}` and marked with `data_part_compat`, as the official libraries do. If the
 * part's own metadata already has such a key, that key gets a leading underscore, so that decoding restores the original.
 */
const WRAPPED = "data_part_compat";
const TAKEN = /^_*(?:mediaType|filename|data_part_compat)$/;
const ESCAPED = /^_+(?:mediaType|filename|data_part_compat)$/;

/**
 * The metadata of an encoded text or data part.
 * `{ text, mediaType: "text/csv", metadata: { a: 1 } }` has `{ a: 1, mediaType: "text/csv" }`.
 * `{ text, metadata: { mediaType: "x" } }` has `{ _mediaType: "x" }`.
 */
export function packMetadata({ mediaType, filename, metadata }: Part): JsonObject | undefined {
  if (mediaType === undefined && filename === undefined) return metadata === undefined ? undefined : escaped(metadata);
  return {
    ...(metadata !== undefined && escaped(metadata)),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  };
}

/**
 * The data of an encoded part, which is always an object, and its metadata.
 * `[1, 2]` becomes `{ data: { value: [1, 2] }, metadata: { data_part_compat: true } }`.
 */
export function packData(part: DataPart): { readonly data: JsonObject; readonly metadata: JsonObject | undefined } {
  const metadata = packMetadata(part);
  if (isJsonObject(part.data)) return { data: part.data, metadata };
  return { data: { value: part.data }, metadata: { ...metadata, [WRAPPED]: true } };
}

/**
 * Data other than an object as the JSON of a text part. The metadata marks it like wrapped data, so that it is decoded as data again.
 * `undefined` for data that is an object.
 */
export function packDataAsText(part: DataPart): { readonly text: string; readonly metadata: JsonObject } | undefined {
  if (isJsonObject(part.data)) return undefined;
  return { text: JSON.stringify(part.data), metadata: { ...packMetadata(part), [WRAPPED]: true } };
}

/** Reverses `packDataAsText`. Text that is not marked, or is not JSON, stays text. */
export function unpackText(text: string, metadata: JsonObject | undefined): Part {
  const data = metadata?.[WRAPPED] === true ? parsed(text) : undefined;
  if (metadata === undefined || data === undefined) return { text, ...unpackMetadata(metadata) };
  const { [WRAPPED]: _marker, ...rest } = metadata;
  return { data, ...unpackMetadata(Object.keys(rest).length === 0 ? undefined : rest) };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

type Details = Pick<Part, "mediaType" | "filename" | "metadata">;

/** Reverses `packMetadata`. Keys that `packMetadata` cannot have written stay in the metadata. */
export function unpackMetadata(metadata: JsonObject | undefined): Details {
  if (metadata === undefined) return {};
  if (!Object.keys(metadata).some((key) => TAKEN.test(key))) return { metadata };
  const details: { mediaType?: string; filename?: string } = {};
  const own: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(metadata)) {
    if ((key === "mediaType" || key === "filename") && typeof value === "string" && value !== "") details[key] = value;
    else own.push([ESCAPED.test(key) ? key.slice(1) : key, value]);
  }
  return own.length === 0 ? details : { ...details, metadata: Object.fromEntries(own) };
}

/** Reverses `packData`. Accepts any JSON value as data. */
export function unpackData(data: JsonValue, metadata: JsonObject | undefined): DataPart {
  if (metadata?.[WRAPPED] !== true || !isJsonObject(data) || !isWrapper(data)) {
    return { data, ...unpackMetadata(metadata) };
  }
  const { [WRAPPED]: _marker, ...rest } = metadata;
  return { data: data["value"], ...unpackMetadata(Object.keys(rest).length === 0 ? undefined : rest) };
}

/** Only an object that `packData` can have written is unwrapped. */
function isWrapper(data: JsonObject): data is { readonly value: JsonValue } {
  return Object.hasOwn(data, "value") && Object.keys(data).length === 1;
}

function escaped(metadata: JsonObject): JsonObject {
  if (!Object.keys(metadata).some((key) => TAKEN.test(key))) return metadata;
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [TAKEN.test(key) ? `_${key}` : key, value]));
}
