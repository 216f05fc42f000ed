import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { A2AService as Service0_3 } from "a2a-sdk-v0_3/server/grpc";
import { A2AService as Service1_0 } from "a2a-sdk-v1/server/grpc";
import { describe, expect, it } from "vitest";
import { DESCRIPTORS } from "../../src/wire/proto/descriptors.ts";
import { loadProtoTypes } from "../../src/wire/proto/proto-types.ts";

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, base64Decode(DESCRIPTORS)));
const types = await loadProtoTypes();

/** Fields of our own, and fields that 0.3 gained after the release that the official library implements. */
const ADDED = new Set([
  "lf.a2a.v1.StreamResponse.palaver_event_id",
  "a2a.v1.StreamResponse.palaver_event_id",
  "a2a.v1.Part.metadata",
  "a2a.v1.FilePart.name",
  "a2a.v1.AgentCard.icon_url",
]);
const met = new Set<string>();
const used = new Set<string>();

/** No oneof has more members. */
const MEMBERS = 5;

/** ProtoJSON with a value for every field; of each oneof one member, of oneofs within it another one, by the digits of `choice`. */
function sample(type: DescMessage, choice: number, depth = 0): unknown {
  if (type.typeName === "google.protobuf.Struct") return { a: { b: [1, "two", true] } };
  if (type.typeName === "google.protobuf.Value") return { a: [1] };
  if (type.typeName === "google.protobuf.Timestamp") return "2026-01-02T03:04:05.678Z";
  const json: Record<string, unknown> = {};
  for (const field of type.fields) {
    const name = `${type.typeName}.${field.name}`;
    met.add(name);
    if (ADDED.has(name)) continue;
    const { oneof } = field;
    if (oneof !== undefined && oneof.fields.indexOf(field) !== choice % oneof.fields.length) continue;
    if (depth > 8) continue;
    used.add(name);
    json[field.jsonName] = sampleField(field, oneof === undefined ? choice : Math.floor(choice / MEMBERS), depth + 1);
  }
  return json;
}

function sampleField(field: DescField, choice: number, depth: number): unknown {
  switch (field.fieldKind) {
    case "list":
      return [field.listKind === "message" ? sample(field.message, choice, depth) : `${field.name}-1`];
    case "map":
      return { key: field.mapKind === "message" ? sample(field.message, choice, depth) : field.name };
    case "message":
      return sample(field.message, choice, depth);
    case "enum":
      return field.enum.values.at(-1)?.name;
    case "scalar":
      if (field.scalar === 8) return true;
      if (field.scalar === 12) return "AAEC/w==";
      return field.scalar === 5 ? field.number + 1 : `${field.name} ü`;
  }
}

const CHOICES = Array.from({ length: MEMBERS * MEMBERS }, (_, index) => index);

describe.each([
  ["1.0", "lf.a2a.v1.A2AService", Service1_0],
  ["0.3", "a2a.v1.A2AService", Service0_3],
] as const)("The messages of %s", (_, name, official) => {
  const service = registry.getService(name);
  if (service === undefined) throw new Error(`No .proto file declares ${name}.`);
  // Safe: the official library declares its service with concrete types.
  const methods = Object.values(official as unknown as ServiceDefinition);

  it("belong to the same methods as in the official library", () => {
    const paths = methods.map(({ path }) => path).sort();
    expect(service.methods.map((method) => `/${name}/${method.name}`).sort()).toEqual(paths);
    for (const method of service.methods) {
      const other = methods.find(({ path }) => path === `/${name}/${method.name}`);
      expect(method.methodKind === "server_streaming").toBe(other?.responseStream);
    }
  });

  it("have the field numbers and types of the official library, with every member of every oneof", () => {
    for (const [method, choice] of service.methods.flatMap((each) => CHOICES.map((index) => [each, index] as const))) {
      const other = methods.find(({ path }) => path === `/${name}/${method.name}`);
      for (const [type, read, write] of [
        [method.input, other?.requestDeserialize, other?.requestSerialize],
        [method.output, other?.responseDeserialize, other?.responseSerialize],
      ] as const) {
        const json = sample(type, choice);
        const own = types.type(type.typeName);
        const through = write?.(read?.(Buffer.from(own.encode(json))));
        expect(own.decode(through ?? new Uint8Array()), type.typeName).toEqual(own.decode(own.encode(json)));
      }
    }
  });

  it("are all covered by this comparison, except for the additions", () => {
    const prefix = name.slice(0, name.lastIndexOf(".") + 1);
    const missed = [...met].filter((field) => field.startsWith(prefix) && !used.has(field) && !ADDED.has(field));
    expect(missed).toEqual([]);
  });
});

it("The compiled descriptors have every field of the .proto files: run `node scripts/proto.ts` after a change", () => {
  for (const file of ["a2a_1_0", "a2a_0_3", "health", "reflection_v1", "reflection_v1alpha", "rpc_status"]) {
    const source = readFileSync(join(import.meta.dirname, "../../proto", `${file}.proto`), "utf8");
    const declared = Array.from(
      source.matchAll(/^\s+(?:optional |repeated )?[\w.<>, ]+? ([a-z]\w*) = (\d+)(?: \[.*\])?;$/gm),
    );
    const compiled = registry.getFile(`${file}.proto`);
    const fields = new Set(compiled?.messages.flatMap(fieldsOf));
    expect(declared.length).toBeGreaterThan(0);
    expect(declared.map(([, name, number]) => `${name}=${number}`).filter((field) => !fields.has(field))).toEqual([]);
  }
});

function fieldsOf(type: DescMessage): readonly string[] {
  return [...type.fields.map((field) => `${field.name}=${field.number}`), ...type.nestedMessages.flatMap(fieldsOf)];
}
