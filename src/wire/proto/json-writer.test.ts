import { createFileRegistry, type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ByteString, bytesOf } from "../byte-string.ts";
import { DESCRIPTORS } from "./descriptors.ts";
import { jsonWriter } from "./json-writer.ts";
import { loadProtoTypes } from "./proto-types.ts";

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, base64Decode(DESCRIPTORS)));
const types = await loadProtoTypes();

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("ä", "€", "😀", "x".repeat(200)));
const SPECIAL: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  "google.protobuf.Timestamp": fc
    .tuple(
      fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
      fc.constantFrom("", ".1", ".123", ".000001", ".999999999"),
    )
    .map(([seconds, fraction]) => new Date(seconds * 1000).toISOString().replace(".000Z", `${fraction}Z`)),
  "google.protobuf.Value": fc.jsonValue({ maxDepth: 3 }),
  "google.protobuf.Struct": fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })),
};

/** Every field of a message may be absent, and has any value that ProtoJSON allows. */
function jsonOf(schema: DescMessage, depth: number): fc.Arbitrary<unknown> {
  const special = SPECIAL[schema.typeName];
  if (special !== undefined) return special;
  const inOneof = new Set(schema.oneofs.flatMap(({ fields }) => fields.slice(1).map(({ name }) => name)));
  const fields = schema.fields.filter(
    ({ name, message }) => !inOneof.has(name) && (depth > 0 || message === undefined),
  );
  const chosen = fields.map((field) => {
    const group = schema.oneofs.find((oneof) => oneof.fields.includes(field))?.fields ?? [field];
    return fc.oneof(
      ...group
        .filter(({ message }) => depth > 0 || message === undefined)
        .map((each) => fieldValue(each, depth).map((value): object => ({ [each.jsonName]: value }))),
      fc.constant({}),
    );
  });
  return fc.tuple(...chosen).map((all) => Object.assign({}, ...all));
}

function fieldValue(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const one = (): fc.Arbitrary<unknown> => {
    if (field.message !== undefined) return jsonOf(field.message, depth - 1);
    if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ name }) => name));
    const { scalar } = field as { scalar: number };
    if (scalar === 9) return text;
    if (scalar === 12) return fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    return scalar === 8 ? fc.boolean() : fc.integer();
  };
  if (field.fieldKind === "list") return fc.array(one(), { maxLength: 3 });
  return field.fieldKind === "map" ? fc.dictionary(text, one(), { maxKeys: 3 }) : one();
}

/** The messages that streams and most answers consist of. */
const WRITTEN = [
  ...["StreamResponse", "SendMessageResponse", "Task", "TaskPushNotificationConfig", "AgentCard"].flatMap((name) => [
    `lf.a2a.v1.${name}`,
    `a2a.v1.${name}`,
  ]),
  "lf.a2a.v1.ListTasksResponse",
];

describe.each(WRITTEN)("A message %s", (name) => {
  const schema = registry.getMessage(name);
  if (schema === undefined) throw new Error(`${name} is not declared.`);
  const type = types.type(name);
  const write = jsonWriter(schema);

  it("is written without the library", () => {
    expect(write).toBeDefined();
  });

  it("has the same content as the library writes", () => {
    fc.assert(
      fc.property(jsonOf(schema, 3), (json) => {
        const expected = type.decode(type.encode(json));
        expect(type.decode(bytesOf((write?.(json) ?? "") as ByteString))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("leaves out members that it does not define, and null", () => {
    expect(write?.({ unknown: { deep: [1] }, [schema.fields[0]?.jsonName ?? ""]: null })).toBe("");
  });
});

it("Half of a surrogate pair, which UTF-8 does not have, becomes the replacement character", () => {
  const schema = registry.getMessage("lf.a2a.v1.Part");
  const written = (schema && jsonWriter(schema)?.({ text: "a\ud800b" })) as ByteString;
  expect(types.type("lf.a2a.v1.Part").decode(bytesOf(written))).toEqual({ text: "a\ufffdb" });
});

describe("A value of the wrong type", () => {
  const task = registry.getMessage("lf.a2a.v1.Task");
  const write = task && jsonWriter(task);
  it.each([
    [{ id: 1 }],
    [{ artifacts: {} }],
    [{ status: "x" }],
    [{ status: { timestamp: "yesterday" } }],
    [{ metadata: [] }],
    [[]],
    [null],
  ])("%j is refused", (json) => {
    expect(() => write?.(json)).toThrow(TypeError);
  });
});
