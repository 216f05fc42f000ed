import type { DescFile, FileRegistry, JsonValue } from "@bufbuild/protobuf";
import { type ByteString, byteStringOf } from "../byte-string.ts";
import type { AddedField } from "../grpc-codec.ts";
import type { ProtoType } from "../proto-type.ts";
import { addField } from "./add-field.ts";
import { DESCRIPTORS } from "./descriptors.ts";
import { type JsonWriter, jsonWriter } from "./json-writer.ts";
import { type TextChunkWriter, textChunkWriter } from "./text-chunk-writer.ts";

/** The message types of `proto/`. */
export interface ProtoTypes {
  /** `name` with its package, such as `lf.a2a.v1.Task`. Throws for an unknown name. */
  type(name: string): ProtoType;
  /** Writes ProtoJSON as a message of this type. Throws for an unknown name. */
  writer(name: string): (json: unknown) => ByteString;
  /** Writes text chunks as events of this type; `undefined` if it has not the fields for them. Throws for an unknown name. */
  textChunkWriter(name: string): TextChunkWriter | undefined;
  /** The `FileDescriptorProto` of a file and of the files it imports; `undefined` for an unknown file. */
  file(name: string): readonly Uint8Array[] | undefined;
  /** The file that declares a service, a method or a type. */
  fileOf(symbol: string): string | undefined;
}

/** Not in the import itself, so that bundlers of the client do not require an optional package. */
const PACKAGE: string = "@bufbuild/protobuf";

/** JSON may be nested 64 levels deep, and each level takes up to three messages. */
const MAX_DEPTH = 256;

/** Loads the optional package `@bufbuild/protobuf`. Rejects if it is not installed. `fields` are added to the messages of `proto/`. */
export async function loadProtoTypes(fields: readonly AddedField[] = []): Promise<ProtoTypes> {
  const protobuf = (await import(PACKAGE)) as typeof import("@bufbuild/protobuf");
  const { base64Decode } = (await import(`${PACKAGE}/wire`)) as typeof import("@bufbuild/protobuf/wire");
  const wellKnown = (await import(`${PACKAGE}/wkt`)) as typeof import("@bufbuild/protobuf/wkt");
  const { FileDescriptorSetSchema, FileDescriptorProtoSchema } = wellKnown;
  const { fromBinary, fromJson, toBinary, toJson, createFileRegistry } = protobuf;
  const files = fromBinary(FileDescriptorSetSchema, base64Decode(DESCRIPTORS));
  for (const field of fields) addField(files, field, { ...protobuf, ...wellKnown });
  const registry = createFileRegistry(files);
  const made = new Map<string, ProtoType>();
  const create = (name: string): ProtoType => {
    const schema = registry.getMessage(name);
    if (schema === undefined) throw new TypeError(`No .proto file declares ${name}.`);
    const reading = { readUnknownFields: false, recursionLimit: MAX_DEPTH };
    const writing = { ignoreUnknownFields: true, registry };
    return {
      decode: (bytes) => toJson(schema, fromBinary(schema, bytes, reading), { registry }),
      // Safe: the caller passes parsed JSON, or an object that is written like it.
      encode: (json) => toBinary(schema, fromJson(schema, json as JsonValue, writing)),
    };
  };
  const writers = new Map<string, JsonWriter>();
  return {
    writer(name) {
      const schema = registry.getMessage(name);
      const write = schema && jsonWriter(schema, writers);
      // Safe: a writer writes one character for each byte.
      if (write !== undefined) return (json) => write(json) as ByteString;
      const { encode } = create(name);
      return (json) => byteStringOf(encode(json));
    },
    textChunkWriter(name) {
      const schema = registry.getMessage(name);
      if (schema === undefined) throw new TypeError(`No .proto file declares ${name}.`);
      return textChunkWriter(schema);
    },
    type(name) {
      const known = made.get(name) ?? create(name);
      made.set(name, known);
      return known;
    },
    file(name) {
      const file = registry.getFile(name);
      return file && withImports(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
    },
    fileOf: (symbol) => declaringFile(registry, symbol),
  };
}

function withImports(file: DescFile): readonly DescFile[] {
  return [...new Set([file, ...file.dependencies.flatMap(withImports)])];
}

function declaringFile(registry: FileRegistry, symbol: string): string | undefined {
  const found = registry.get(symbol) ?? registry.getService(symbol.slice(0, Math.max(0, symbol.lastIndexOf("."))));
  return found === undefined ? undefined : `${found.file.name}.proto`;
}
