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

const ZERO = 0x30;
/** More bytes are copied faster by a call than one by one. */
const FEW = 48;

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

  /** Removes what was written since the length was this. */
  cutTo(length: number): void {
    this.#used = length;
  }

  /** Writes ASCII. */
  write(text: string): void {
    this.#reserve(text.length);
    this.#encoding.write(this.#bytes, text, this.#used);
    this.#used += text.length;
  }

  /**
   * Writes a short text, character by character, which is faster than a call. False if it has other characters than printable ASCII, or quotes or
   * backslashes, which JSON escapes; then nothing is written.
   */
  writePlain(text: string): boolean {
    const { length } = text;
    this.#reserve(length);
    const bytes = this.#bytes;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
      bytes[from + at] = code;
    }
    this.#used += length;
    return true;
  }

  /** Writes a number of less than 30 bits with a fixed number of digits, which are the 64 characters from `0` on. */
  writeNumber(value: number, digits: number): void {
    this.#reserve(digits);
    const bytes = this.#bytes;
    let rest = value;
    for (let at = this.#used + digits - 1; at >= this.#used; at -= 1) {
      bytes[at] = ZERO + (rest & 63);
      rest >>>= 6;
    }
    this.#used += digits;
  }

  writeCode(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#used] = code;
    this.#used += 1;
  }

  writeBytes(added: Uint8Array): void {
    const { length } = added;
    this.#reserve(length);
    const bytes = this.#bytes;
    const from = this.#used;
    if (length > FEW) bytes.set(added, from);
    else for (let at = 0; at < length; at += 1) bytes[from + at] = added[at] ?? 0;
    this.#used += length;
  }

  #reserve(count: number): void {
    const needed = this.#used + count;
    if (needed <= this.#bytes.length) return;
    const larger = this.#encoding.allocate(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}
