/** Bytes before every gRPC message: a flag (1: compressed) and the length, big-endian. */
export const PREFIX_BYTES = 5;

/** A message with its prefix. */
export function frame(message: Uint8Array, isCompressed = false): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(PREFIX_BYTES + message.byteLength);
  framed[0] = isCompressed ? 1 : 0;
  new DataView(framed.buffer).setUint32(1, message.byteLength);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** The length in a prefix. */
export function lengthOf(prefix: Uint8Array): number {
  return new DataView(prefix.buffer, prefix.byteOffset).getUint32(1);
}

type Decompress = (message: Uint8Array) => Uint8Array;

/** Splits the bytes of a call into messages, however they arrive. */
export class FrameReader {
  readonly #limit: number;
  readonly #decompress: Decompress | undefined;
  #bytes: Uint8Array = new Uint8Array();
  /** Pieces after `#bytes`, joined once a whole message has arrived. */
  #more: Uint8Array[] = [];
  #length = 0;

  /** `limit`: the most bytes of one message as it arrives. `decompress`: absent if compressed messages are not expected. */
  constructor(limit: number, decompress?: Decompress) {
    this.#limit = limit;
    this.#decompress = decompress;
  }

  /** Bytes that have arrived and belong to no message yet. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    if (this.#length === 0) this.#bytes = chunk;
    else this.#more.push(chunk);
    this.#length += chunk.byteLength;
  }

  /** The next whole message; `undefined` if it has not arrived yet. Throws a `RangeError` if it is too large, or compressed although that is not expected. */
  next(): Uint8Array | undefined {
    if (this.#length < PREFIX_BYTES) return undefined;
    if (this.#bytes.byteLength < PREFIX_BYTES) this.#join();
    const decompress = this.#bytes[0] === 0 ? (message: Uint8Array) => message : this.#decompress;
    if (decompress === undefined) throw new RangeError("The message is compressed.");
    const length = lengthOf(this.#bytes);
    if (length > this.#limit) throw new RangeError(`The message is larger than ${this.#limit} bytes.`);
    const end = PREFIX_BYTES + length;
    if (this.#length < end) return undefined;
    if (this.#bytes.byteLength < end) this.#join();
    const message = this.#bytes.subarray(PREFIX_BYTES, end);
    this.#bytes = this.#bytes.subarray(end);
    this.#length -= end;
    if (this.#bytes.byteLength === 0 && this.#length > 0) this.#join();
    return decompress(message);
  }

  #join(): void {
    const joined = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of [this.#bytes, ...this.#more]) {
      joined.set(piece, at);
      at += piece.byteLength;
    }
    this.#bytes = joined;
    this.#more = [];
  }
}
