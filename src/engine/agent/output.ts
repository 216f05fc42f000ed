import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { PART_CONTENTS, type Part } from "../../protocol/part.ts";
import type { FileOutput, Output, ReceivedFile } from "./output-types.ts";

/** Maximum nesting of a value. JSON parsers of other languages stop at about this depth. */
export const MAX_DEPTH = 100;
const PART_MEMBERS: ReadonlySet<string> = new Set([...PART_CONTENTS, "mediaType", "filename", "metadata"]);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Converts output to parts. The parts are copies, so that the author may change the objects later. As in `JSON.stringify`, members that are
 * `undefined` are left out and `toJSON` is called; a value that JSON would lose silently throws a `TypeError` with its path.
 */
export function toParts(output: Output): readonly Part[] {
  if (typeof output === "string") return [{ text: output }];
  if (Array.isArray(output)) return partsOfArray(output) ?? [dataPart(output)];
  if (isRecord(output)) {
    if (looksLikePart(output)) return [copyPart(output, "")];
    if (looksLikeFile(output)) return [filePart(output.file)];
  }
  return [dataPart(output)];
}

/** The parts of a status message or a question. Accepts a text, a part or a non-empty list of parts; throws a `TypeError` for anything else. */
export function toMessageParts(message: string | Part | readonly Part[]): readonly Part[] {
  if (typeof message === "string") return [{ text: message }];
  const list: readonly unknown[] = Array.isArray(message) ? message : [message];
  if (list.length === 0) throw new TypeError("A message needs at least one part.");
  return list.map((part, index) => {
    const place = list === message ? `[${index}]` : "";
    if (!isRecord(part) || !looksLikePart(part)) {
      throw new TypeError(
        `${named(place)} must be a part: exactly one of text, raw, url, data, and no unknown members.`,
      );
    }
    return copyPart(part, place);
  });
}

/** The files in the parts. Inline content is decoded when `bytes` is first read. */
export function filesOf(parts: readonly Part[]): ReceivedFile[] {
  const files: ReceivedFile[] = [];
  for (const part of parts) {
    const { filename: name, mediaType } = part;
    if (part.url !== undefined) files.push({ name, mediaType, bytes: undefined, url: part.url });
    if (part.raw !== undefined) files.push(inlineFile(part.raw, { name, mediaType }));
  }
  return files;
}

/** The value of the first data part (may be `null`); `undefined` if there is none. */
export function dataOf(parts: readonly Part[]): JsonValue | undefined {
  return parts.find((part) => part.data !== undefined)?.data;
}

function inlineFile(raw: string, details: Pick<ReceivedFile, "name" | "mediaType">): ReceivedFile {
  let decoded: Uint8Array | undefined;
  return {
    ...details,
    url: undefined,
    get bytes(): Uint8Array {
      decoded ??= Buffer.from(raw, "base64");
      return decoded;
    },
  };
}

/** The parts, if all elements are parts; otherwise `undefined`: the array is a JSON value. */
function partsOfArray(list: readonly unknown[]): readonly Part[] | undefined {
  if (list.length === 0) return undefined;
  const parts: Part[] = [];
  for (const element of list) {
    if (!isRecord(element) || !looksLikePart(element) || contentProblem(element) !== undefined) return undefined;
    parts.push(copyPart(element, `[${parts.length}]`));
  }
  return parts;
}

function dataPart(value: unknown): Part {
  return { data: toJson(value, "", []) };
}

function looksLikePart(value: Readonly<Record<string, unknown>>): boolean {
  let contents = 0;
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    if (!PART_MEMBERS.has(key)) return false;
    if (key === "text" || key === "raw" || key === "url" || key === "data") contents += 1;
  }
  return contents === 1;
}

/** The problem of an object with the members of a part; `undefined` if it is a valid part. */
function contentProblem(part: Readonly<Record<string, unknown>>): string | undefined {
  const { text, raw, url, mediaType, filename, metadata } = part;
  if (text !== undefined && typeof text !== "string") return `.text must be a string, not ${kindOf(text)}`;
  if (raw !== undefined && (typeof raw !== "string" || raw.length % 4 !== 0 || !BASE64.test(raw))) {
    return ".raw must be a string of standard base64, padding included";
  }
  if (url !== undefined && (typeof url !== "string" || !URL.canParse(url))) return ".url must be an absolute URL";
  if (mediaType !== undefined && typeof mediaType !== "string")
    return `.mediaType must be a string, not ${kindOf(mediaType)}`;
  if (filename !== undefined && typeof filename !== "string")
    return `.filename must be a string, not ${kindOf(filename)}`;
  if (metadata !== undefined && (!isRecord(metadata) || Array.isArray(metadata))) {
    return `.metadata must be an object, not ${kindOf(metadata)}`;
  }
  return undefined;
}

function copyPart(part: Readonly<Record<string, unknown>>, place: string): Part {
  const problem = contentProblem(part);
  if (problem !== undefined) {
    throw new TypeError(`${named(place)}${problem}. To send this object as data, wrap it: { data: … }.`);
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(part)) {
    if (value !== undefined) copy[key] = toJson(value, `${place}.${key}`, []);
  }
  // Safe cast: `contentProblem` checked the members.
  return copy as unknown as Part;
}

function looksLikeFile(value: Readonly<Record<string, unknown>>): value is { readonly file: FileOutput } {
  const { file } = value;
  if (!isRecord(file) || Object.keys(value).length !== 1) return false;
  const { bytes, url } = file;
  return bytes !== undefined || url !== undefined;
}

function filePart(file: FileOutput): Part {
  const { name, mediaType, bytes, url }: { readonly [Key in keyof FileOutput]?: unknown } = file;
  if (bytes !== undefined && url !== undefined) throw new TypeError("A file has either bytes or a url, not both.");
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) {
    throw new TypeError(`file.bytes must be a Uint8Array, not ${kindOf(bytes)}.`);
  }
  if (name !== undefined && typeof name !== "string")
    throw new TypeError(`file.name must be a string, not ${kindOf(name)}.`);
  const content = bytes === undefined ? { url } : { raw: base64Of(bytes) };
  return copyPart({ ...content, mediaType, filename: name }, "file");
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * A copy of a step's result for the store. A replay must return the same value: an object that JSON would change (a class instance, a Date) throws a
 * `TypeError` with its path. `undefined` is allowed.
 */
export function storableCopy(value: unknown): JsonValue | undefined {
  if (value === undefined) return undefined;
  requirePlain(value, "");
  return toJson(value, "", []);
}

function requirePlain(value: unknown, place: string, level = 0): void {
  // Deeper values and cycles are refused by `toJson`.
  if (!isRecord(value) || level > MAX_DEPTH) return;
  if (!Array.isArray(value) && !isPlain(value)) {
    throw new TypeError(
      `${valueAt(place)} is ${kindOf(value)}, which JSON cannot represent. Return plain objects and arrays.`,
    );
  }
  for (const [key, member] of Object.entries(value)) {
    requirePlain(member, Array.isArray(value) ? `${place}[${key}]` : `${place}.${key}`, level + 1);
  }
}

function valueAt(place: string): string {
  return place === "" ? "The value" : `The value at ${place.replace(/^\./, "")}`;
}

function toJson(value: unknown, place: string, above: object[]): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw new TypeError(`${named(place)} is ${value}, which JSON cannot represent.`);
    case "object":
      return value === null ? null : objectToJson(value, place, above);
    default:
      throw new TypeError(`${named(place)} is ${kindOf(value)}, which JSON cannot represent.`);
  }
}

function objectToJson(value: object, place: string, above: object[]): JsonValue {
  if (above.includes(value)) throw new TypeError(`${named(place)} contains itself, which JSON cannot represent.`);
  if (above.length >= MAX_DEPTH) throw new TypeError(`${named(place)} is nested deeper than ${MAX_DEPTH} levels.`);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    throw new TypeError(`${named(place)} is binary. Send it as a file: { file: { bytes, mediaType } }.`);
  }
  above.push(value);
  const copy = Array.isArray(value) ? arrayToJson(value, place, above) : membersToJson(value, place, above);
  above.pop();
  return copy;
}

function arrayToJson(list: readonly unknown[], place: string, above: object[]): JsonValue[] {
  // Array.from visits holes in the array; `map` skips them.
  return Array.from(list, (element, index) => toJson(element, `${place}[${index}]`, above));
}

function membersToJson(value: object, place: string, above: object[]): JsonValue {
  if (hasToJson(value)) return toJson(value.toJSON(), place, above);
  const entries = Object.entries(value);
  if (entries.length === 0 && !isPlain(value)) {
    throw new TypeError(`${named(place)} is ${kindOf(value)}, which would be empty in JSON.`);
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, member] of entries) {
    if (member === undefined) continue;
    const json = toJson(member, `${place}.${key}`, above);
    // Assigning a member called `__proto__` would set the prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: json, enumerable: true, configurable: true, writable: true });
    else copy[key] = json;
  }
  return copy satisfies JsonObject;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function named(place: string): string {
  return `Output${place === "" || place.startsWith("[") || place.startsWith(".") ? place : `.${place}`}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return `a ${value.constructor?.name ?? "bare"} object`;
  return `a ${typeof value}`;
}
