import type { SpanText } from "./otlp-json.ts";

/** A character has at most 3 bytes per unit of its length. */
const BYTES_PER_UNIT = 3;

/** How text becomes bytes. Node has a faster way than browsers. */
export interface TextEncoding {
  /** A new array. */
  allocate(size: number): Uint8Array<ArrayBuffer>;
  /** Writes the text as UTF-8 from the index `at` on, and returns the number of bytes. The array, which `allocate` made, has room for it. */
  write(bytes: Uint8Array<ArrayBuffer>, text: string, at: number): number;
}

const encoder = new TextEncoder();

/** Of every runtime. */
const WEB_ENCODING: TextEncoding = {
  allocate: (size) => new Uint8Array(size),
  write: (bytes, text, at) => encoder.encodeInto(text, bytes.subarray(at)).written,
};

/** Text as bytes, in one growing array. */
export class TextBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #used = 0;
  readonly #encoding: TextEncoding;

  /** `size`: bytes that are reserved. */
  constructor(size: number, encoding: TextEncoding = WEB_ENCODING) {
    this.#encoding = encoding;
    this.#bytes = encoding.allocate(size);
  }

  get length(): number {
    return this.#used;
  }

  /** The bytes in this range; valid until the next change. */
  slice(start = 0, end: number = this.#used): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(start, end);
  }

  clear(): void {
    this.#used = 0;
  }

  write(text: string): void {
    this.#reserve(text.length * BYTES_PER_UNIT);
    this.#used += this.#encoding.write(this.#bytes, text, this.#used);
  }

  /** Writes a span, and a text after it. Each is written apart: V8 then keeps the head in one piece, not as a tree of its pieces. */
  writeSpan({ head, tail }: Pick<SpanText, "head" | "tail">, after: string): void {
    this.write(head);
    this.write(tail);
    this.write(after);
  }

  writeBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #reserve(count: number): void {
    const needed = this.#used + count;
    if (needed <= this.#bytes.length) return;
    const larger = this.#encoding.allocate(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}
