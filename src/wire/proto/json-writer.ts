// Writes ProtoJSON as protobuf in one pass. `@bufbuild/protobuf` creates an object for every message on the way, which costs several times
// the processor time and memory; streams write an event for every chunk.

import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { type ByteString, byteStringOf } from "../byte-string.ts";
import { writeStruct, writeTimestamp, writeValue } from "./well-known-json.ts";
import { LENGTH_DELIMITED, lengthDelimited, tag, utf8, VARINT, varint } from "./wire-format.ts";

/** Writes a JSON value as the content of a message. */
export type JsonWriter = (json: unknown) => string;

/** A field's tag and content; empty if it has the default value. */
type FieldWriter = (value: unknown) => string;

/** The types of scalars that the definitions use (`ScalarType` of `@bufbuild/protobuf`). */
const INT32 = 5;
const INT64 = 3;
const BOOL = 8;
const STRING = 9;
const BYTES = 12;
/** `FieldPresence.IMPLICIT`: a default value is not written. */
const IMPLICIT = 2;

/**
 * The writer of a message type; `undefined` if it has fields of a kind that this does not support. Members that the type does not define are
 * left out. The writer throws a `TypeError` if a member has another type than its field.
 */
export function jsonWriter(schema: DescMessage, known: Map<string, JsonWriter> = new Map()): JsonWriter | undefined {
  const made = known.get(schema.typeName) ?? WELL_KNOWN[schema.typeName];
  if (made !== undefined) return made;
  if (schema.typeName.startsWith("google.protobuf.") && schema.fields.length > 0) return undefined;
  const fields = new Map<string, FieldWriter>();
  const write: JsonWriter = (json) => {
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw new TypeError(`${schema.typeName} must be an object.`);
    let text = "";
    for (const [name, value] of Object.entries(json)) {
      if (value !== null || isValue(schema, name)) text += fields.get(name)?.(value) ?? "";
    }
    return text;
  };
  // Before its fields, because a message may contain itself.
  known.set(schema.typeName, write);
  for (const field of schema.fields) {
    const writer = fieldWriter(field, known);
    if (writer === undefined) return undefined;
    fields.set(field.jsonName, writer);
  }
  return write;
}

const WELL_KNOWN: Readonly<Record<string, JsonWriter>> = {
  "google.protobuf.Timestamp": writeTimestamp,
  "google.protobuf.Value": writeValue,
  "google.protobuf.Struct": writeStruct,
};

/** Only there null is a value, and not the absence of one. */
function isValue(schema: DescMessage, name: string): boolean {
  return schema.fields.some(({ jsonName, message }) => jsonName === name && message?.typeName === VALUE);
}

const VALUE = "google.protobuf.Value";

function fieldWriter(field: DescField, known: Map<string, JsonWriter>): FieldWriter | undefined {
  if (field.fieldKind === "list") {
    const one = valueWriter({ ...field, isImplicit: false }, known);
    return (
      one &&
      ((values) => {
        if (!Array.isArray(values)) throw new TypeError(`${field.name} must be a list.`);
        let text = "";
        for (const value of values) text += one(value);
        return text;
      })
    );
  }
  if (field.fieldKind === "map") return mapWriter(field, known);
  return valueWriter({ ...field, isImplicit: field.presence === IMPLICIT }, known);
}

type ValueField = Pick<DescField, "number" | "name"> & {
  readonly isImplicit: boolean;
  readonly message?: DescMessage | undefined;
  readonly enum?: DescEnum | undefined;
  readonly scalar?: number | undefined;
};

function valueWriter(field: ValueField, known: Map<string, JsonWriter>): FieldWriter | undefined {
  const { number, name, isImplicit } = field;
  if (field.message !== undefined) {
    const content = jsonWriter(field.message, known);
    const start = tag(number, LENGTH_DELIMITED);
    return content && ((value) => start + lengthDelimited(content(value)));
  }
  if (field.enum !== undefined) {
    const numbers = new Map(field.enum.values.map((value) => [value.name, value.number]));
    const start = tag(number, VARINT);
    return (value) => {
      const code = typeof value === "number" ? value : numbers.get(String(value));
      return code === undefined || (isImplicit && code === 0) ? "" : start + varint(code);
    };
  }
  switch (field.scalar) {
    case STRING:
    case BYTES: {
      const start = tag(number, LENGTH_DELIMITED);
      const encode = field.scalar === STRING ? utf8 : fromBase64;
      return (value) => {
        if (typeof value !== "string") throw new TypeError(`${name} must be a string.`);
        return isImplicit && value === "" ? "" : start + lengthDelimited(encode(value));
      };
    }
    case BOOL: {
      const start = tag(number, VARINT);
      return (value) => {
        if (typeof value !== "boolean") throw new TypeError(`${name} must be a boolean.`);
        return isImplicit && !value ? "" : start + varint(value ? 1 : 0);
      };
    }
    case INT32:
    case INT64: {
      const start = tag(number, VARINT);
      return (value) => {
        const whole = Number(value);
        if (!Number.isSafeInteger(whole)) throw new TypeError(`${name} must be an integer.`);
        return isImplicit && whole === 0 ? "" : start + varint(whole);
      };
    }
    default:
      return undefined;
  }
}

/** Only strings are keys of the maps in use. */
function mapWriter(
  field: Extract<DescField, { fieldKind: "map" }>,
  known: Map<string, JsonWriter>,
): FieldWriter | undefined {
  if (field.mapKey !== STRING) return undefined;
  const content = valueWriter({ ...field, number: 2, isImplicit: false }, known);
  const start = tag(field.number, LENGTH_DELIMITED);
  const key = tag(1, LENGTH_DELIMITED);
  return (
    content &&
    ((values) =>
      Object.entries(values as object)
        .map(([name, value]) => start + lengthDelimited(key + lengthDelimited(utf8(name)) + content(value)))
        .join(""))
  );
}

function fromBase64(text: string): ByteString {
  return byteStringOf(Buffer.from(text, "base64"));
}
