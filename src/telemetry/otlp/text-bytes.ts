/** How ASCII text becomes bytes. Node has a faster way than browsers. */
export interface TextEncoding {
  /** A new array. */
  allocate(size: number): Uint8Array<ArrayBuffer>;
  /** Writes the text, which is ASCII, from the index `at` on. The array, which `allocate` made, has room for it. */
  write(bytes: Uint8Array<ArrayBuffer>, text: string, at: number): void;
}

const encoder = new TextEncoder();

/** Of every runtime. */
const WEB_ENCODING: TextEncoding = {
  allocate: (size) => new Uint8Array(size),
  write: (bytes, text, at) => void encoder.encodeInto(text, bytes.subarray(at)),
};

/** ASCII text as bytes, in one growing array. */
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
    this.#reserve(text.length);
    this.#encoding.write(this.#bytes, text, this.#used);
    this.#used += text.length;
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
