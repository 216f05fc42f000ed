import { double, FIXED64, LENGTH_DELIMITED, lengthDelimited, tag, utf8, VARINT, varint } from "./wire-format.ts";

const SECONDS = tag(1, VARINT);
const NANOS = tag(2, VARINT);
const FRACTION = /\.(\d{1,9})/;

/** `google.protobuf.Timestamp` of an ISO 8601 time. */
export function writeTimestamp(json: unknown): string {
  const ms = typeof json === "string" ? Date.parse(json) : Number.NaN;
  if (Number.isNaN(ms)) throw new TypeError("A timestamp must be an ISO 8601 time.");
  const seconds = Math.floor(ms / 1000);
  const nanos = Number((FRACTION.exec(String(json))?.[1] ?? "0").padEnd(9, "0"));
  return (seconds === 0 ? "" : SECONDS + varint(seconds)) + (nanos === 0 ? "" : NANOS + varint(nanos));
}

const NULL = tag(1, VARINT) + varint(0);
const NUMBER = tag(2, FIXED64);
const TEXT = tag(3, LENGTH_DELIMITED);
const BOOLEAN = tag(4, VARINT);
const STRUCT = tag(5, LENGTH_DELIMITED);
const LIST = tag(6, LENGTH_DELIMITED);
const ENTRY = tag(1, LENGTH_DELIMITED);
const KEY = tag(1, LENGTH_DELIMITED);
const CONTENT = tag(2, LENGTH_DELIMITED);
const ITEM = tag(1, LENGTH_DELIMITED);

/** `google.protobuf.Value` of any JSON. */
export function writeValue(json: unknown): string {
  switch (typeof json) {
    case "string":
      return TEXT + lengthDelimited(utf8(json));
    case "number":
      return NUMBER + double(json);
    case "boolean":
      return BOOLEAN + varint(json ? 1 : 0);
    default:
      if (json === null || json === undefined) return NULL;
      return Array.isArray(json)
        ? LIST + lengthDelimited(writeList(json))
        : STRUCT + lengthDelimited(writeStruct(json));
  }
}

/** `google.protobuf.Struct` of an object. */
export function writeStruct(json: unknown): string {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new TypeError("A Struct must be an object.");
  let text = "";
  for (const [name, value] of Object.entries(json)) {
    text += ENTRY + lengthDelimited(KEY + lengthDelimited(utf8(name)) + CONTENT + lengthDelimited(writeValue(value)));
  }
  return text;
}

function writeList(values: readonly unknown[]): string {
  let text = "";
  for (const value of values) text += ITEM + lengthDelimited(writeValue(value));
  return text;
}
