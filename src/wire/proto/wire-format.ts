/** The wire types of protobuf. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;

/** The start of a field. */
export function tag(field: number, wireType: number): string {
  return varint(field * 8 + wireType);
}

/** A safe integer; negative ones as 64 bits, two's complement. */
export function varint(value: number): string {
  if (value >= 0 && value < 128) return String.fromCharCode(value);
  if (value < 0) return bigVarint(BigInt.asUintN(64, BigInt(value)));
  let text = "";
  let rest = value;
  while (rest >= 128) {
    text += String.fromCharCode((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return text + String.fromCharCode(rest);
}

function bigVarint(value: bigint): string {
  let text = "";
  let rest = value;
  while (rest >= 128n) {
    text += String.fromCharCode(Number(rest % 128n) + 128);
    rest /= 128n;
  }
  return text + String.fromCharCode(Number(rest));
}

export function lengthDelimited(content: string): string {
  return varint(content.length) + content;
}

/** The bytes of a text in UTF-8. Most texts are ASCII, and are their own bytes. */
export function utf8(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString("latin1");
}

const NUMBER = Buffer.alloc(8);

export function double(value: number): string {
  NUMBER.writeDoubleLE(value);
  return NUMBER.toString("latin1");
}
