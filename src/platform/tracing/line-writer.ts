const LINE_FEED = 0x0a;
/** Digits are the 64 characters from `0` on. */
const ZERO = 0x30;
const BITS = 6;
const HIGH = 2 ** 30;

/** Characters of a time. */
export const TIME_LENGTH = 9;

/** Lines of ASCII as bytes. Short lines are written character by character: that takes a fraction of the time of putting texts together first. */
export class LineWriter {
  #bytes = Buffer.alloc(65_536);
  #used = 0;

  /** The bytes of all lines; valid until the next change. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  get length(): number {
    return this.#used;
  }

  /** Removes what was written since the length was this. */
  cutTo(length: number): void {
    this.#used = length;
  }

  /** Writes a whole line. */
  line(text: string): void {
    this.#reserve(text.length + 1);
    this.#used += this.#bytes.write(text, this.#used, "latin1");
    this.end();
  }

  /** Ends a line. */
  end(): void {
    this.code(LINE_FEED);
  }

  code(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#used] = code;
    this.#used += 1;
  }

  /** False if the text has other characters than printable ASCII; then a part of it may have been written. */
  text(text: string): boolean {
    const { length } = text;
    this.#reserve(length);
    const bytes = this.#bytes;
    const from = this.#used;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < 0x20 || code > 0x7e) return false;
      bytes[from + at] = code;
    }
    this.#used += length;
    return true;
  }

  /** A number of less than 30 bits, in a fixed number of characters. */
  number(value: number, digits: number): void {
    this.#reserve(digits);
    let rest = value;
    for (let at = this.#used + digits - 1; at >= this.#used; at -= 1) {
      this.#bytes[at] = ZERO + (rest & 63);
      rest >>>= BITS;
    }
    this.#used += digits;
  }

  /** A time in milliseconds, exact to the microsecond. */
  time(milliseconds: number): void {
    const microseconds = Math.round(milliseconds * 1000);
    this.number(Math.floor(microseconds / HIGH), TIME_LENGTH - 5);
    this.number(microseconds % HIGH, 5);
  }

  #reserve(count: number): void {
    const needed = this.#used + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

/** A number as {@link LineWriter.number} wrote it. */
export function numberIn(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 64 + text.charCodeAt(at) - ZERO;
  return value;
}

/** A time as {@link LineWriter.time} wrote it. */
export function timeIn(text: string): number {
  return numberIn(text) / 1000;
}
