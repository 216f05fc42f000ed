import type { SpanText } from "./otlp-json.ts";

/** A character has at most 3 bytes per unit of its length. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();

/** Text as bytes, in one growing array. */
export class TextBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #used = 0;

  /** `size`: bytes that are reserved. */
  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
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
    this.#used += encoder.encodeInto(text, this.#bytes.subarray(this.#used)).written;
  }

  /** Writes a span, and a text after it. The head is written apart: V8 then keeps it in one piece, not as a tree of its pieces. */
  writeSpan({ head, tail }: Pick<SpanText, "head" | "tail">, after: string): void {
    this.write(head);
    this.write(tail + after);
  }

  writeBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #reserve(count: number): void {
    const needed = this.#used + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}
