import type { create } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSet,
  OneofDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { AddedField } from "../grpc-codec.ts";

/** The parts of the optional package that this needs. */
interface Protobuf {
  readonly create: typeof create;
  readonly FieldDescriptorProtoSchema: typeof FieldDescriptorProtoSchema;
  readonly FieldDescriptorProto_Label: typeof FieldDescriptorProto_Label;
  readonly FieldDescriptorProto_Type: typeof FieldDescriptorProto_Type;
  readonly OneofDescriptorProtoSchema: typeof OneofDescriptorProtoSchema;
}

/** Adds an `int64` field to a message. Throws a `TypeError` if no file declares the message. */
export function addField(files: FileDescriptorSet, field: AddedField, protobuf: Protobuf): void {
  const { message, name, number, optional = false } = field;
  const declared = messageOf(files, message);
  if (declared === undefined) throw new TypeError(`No .proto file declares ${message}.`);
  // A proto3 field that may be absent is the only member of a oneof, by definition.
  const oneof = optional ? { proto3Optional: true, oneofIndex: declared.oneofDecl.length } : {};
  if (optional) declared.oneofDecl.push(protobuf.create(protobuf.OneofDescriptorProtoSchema, { name: `_${name}` }));
  declared.field.push(
    protobuf.create(protobuf.FieldDescriptorProtoSchema, {
      ...oneof,
      name,
      number,
      jsonName: name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      type: protobuf.FieldDescriptorProto_Type.INT64,
      label: protobuf.FieldDescriptorProto_Label.OPTIONAL,
    }),
  );
}

function messageOf({ file }: FileDescriptorSet, message: string): DescriptorProto | undefined {
  for (const { package: packageName, messageType } of file) {
    const found = messageType.find(({ name }) => `${packageName}.${name}` === message);
    if (found !== undefined) return found;
  }
  return undefined;
}
