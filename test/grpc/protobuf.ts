// The least of a protobuf writer, to write what no library would.

export type Field = Uint8Array;

export function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

export const tag = (field: number, wireType: number): Uint8Array => varint(BigInt(field) * 8n + BigInt(wireType));

export function concat(...pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces);
}

export function bytesField(field: number, value: Uint8Array): Field {
  return concat(tag(field, 2), varint(value.byteLength), value);
}

export const text = (field: number, value: string): Field => bytesField(field, Buffer.from(value));
export const number = (field: number, value: number | bigint): Field => concat(tag(field, 0), varint(value));
export const message = (field: number, ...fields: readonly Field[]): Field => bytesField(field, concat(...fields));

export function double(field: number, value: number): Field {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return concat(tag(field, 1), bytes);
}

/** A message with the prefix of gRPC. `flag` and `length` may be wrong. */
export function framed(
  body: Uint8Array,
  { flag = 0, length = body.byteLength }: { readonly flag?: number; readonly length?: number } = {},
): Uint8Array {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(length, 1);
  return concat(prefix, body);
}

/** A `google.protobuf.Struct` whose value is nested this deep. */
export function deepStruct(levels: number): Uint8Array {
  let value = text(3, "deep");
  for (let level = 0; level < levels; level++) value = message(5, message(1, text(1, "k"), bytesField(2, value)));
  return message(1, text(1, "k"), bytesField(2, value));
}

/** A frame with a message without fields. */
export const EMPTY_MESSAGE: Uint8Array = framed(new Uint8Array());
