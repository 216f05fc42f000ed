import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { DataPart, Part } from "../../protocol/part.ts";

/**
 * What text and data parts of 0.x have no member for travels in their metadata: the media type as `mediaType`, the file name as
 * `filename`; data that is not an object is wrapped as `{"value": …}` and marked by `data_part_compat`, as the official
 * libraries do. A part that has such a member in its own metadata gets that one written with an underscore before it, so
 * that reading takes back exactly what writing did.
 */
const WRAPPED = "data_part_compat";
const TAKEN = /^_*(?:mediaType|filename|data_part_compat)$/;
const ESCAPED = /^_+(?:mediaType|filename|data_part_compat)$/;

/** The metadata to write with a text or data part. */
export function packMetadata({ mediaType, filename, metadata }: Part): JsonObject | undefined {
  if (mediaType === undefined && filename === undefined) return metadata === undefined ? undefined : escaped(metadata);
  return {
    ...(metadata !== undefined && escaped(metadata)),
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  };
}

/** The data to write, which must be an object, and the metadata to write with it. */
export function packData(part: DataPart): { readonly data: JsonObject; readonly metadata: JsonObject | undefined } {
  const metadata = packMetadata(part);
  if (isJsonObject(part.data)) return { data: part.data, metadata };
  return { data: { value: part.data }, metadata: { ...metadata, [WRAPPED]: true } };
}

/**
 * The JSON of data that is no object, and the metadata to write with a text part that holds it; marked like wrapped data, so that it is
 * read back as data. `undefined` for data that is an object.
 */
export function packDataAsText(part: DataPart): { readonly text: string; readonly metadata: JsonObject } | undefined {
  if (isJsonObject(part.data)) return undefined;
  return { text: JSON.stringify(part.data), metadata: { ...packMetadata(part), [WRAPPED]: true } };
}

/** Undoes `packDataAsText`. A text that is not marked, or is no JSON, stays a text. */
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

/** Undoes `packMetadata`. Members that could not have been written by it stay where they are. */
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

/** Undoes `packData`, of whatever was sent as data. */
export function unpackData(data: JsonValue, metadata: JsonObject | undefined): DataPart {
  if (metadata?.[WRAPPED] !== true || !isJsonObject(data) || !isWrapper(data)) {
    return { data, ...unpackMetadata(metadata) };
  }
  const { [WRAPPED]: _marker, ...rest } = metadata;
  return { data: data["value"], ...unpackMetadata(Object.keys(rest).length === 0 ? undefined : rest) };
}

function isWrapper(data: JsonObject): data is { readonly value: JsonValue } {
  return Object.hasOwn(data, "value") && Object.keys(data).length === 1;
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escaped(metadata: JsonObject): JsonObject {
  if (!Object.keys(metadata).some((key) => TAKEN.test(key))) return metadata;
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [TAKEN.test(key) ? `_${key}` : key, value]));
}
