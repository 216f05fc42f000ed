/**
 * The value of a string field of a protobuf message, without decoding the rest; empty if it is absent or the message is invalid, which
 * decoding reports. As protobuf requires, the last of several values counts.
 */
export function stringField(message: Uint8Array, field: number): string {
  let found = "";
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = message[at];
      at += 1;
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < message.byteLength) {
    const tag = varint();
    const kind = tag % 8;
    if (kind === 0) varint();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else if (kind === 2) {
      const length = varint();
      // Also ends for NaN.
      if (!(at + length <= message.byteLength)) return found;
      if (Math.floor(tag / 8) === field) found = new TextDecoder().decode(message.subarray(at, at + length));
      at += length;
    } else return found;
  }
  return found;
}
