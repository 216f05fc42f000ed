import type { Part, TextPart } from "../../protocol/part.ts";

/** How long a content is, in units of the hash, and its hash. */
export interface ContentDigest {
  readonly length: number;
  readonly hash: string;
}

/** Around whatever is not plain text. No code unit of a text has this value. */
const SEPARATOR = 0x1_0000;
/** Deeper JSON is not looked at. */
const MAX_DEPTH = 100;

/**
 * A hash of 64 bits over parts, as they are added. Not a cryptographic one: a server that makes two contents collide confuses
 * the reader of its own stream only.
 */
export class ContentHash {
  #low = 0x9e37_79b9;
  #high = 0x85eb_ca6b;
  #length = 0;

  /** Goes on from a digest. */
  constructor(from?: ContentDigest) {
    if (from === undefined) return;
    this.#length = from.length;
    this.#low = Number.parseInt(from.hash.slice(0, 8), 16) | 0;
    this.#high = Number.parseInt(from.hash.slice(8), 16) | 0;
  }

  /** Code units of text; for parts of other kinds, about as many as their JSON has. */
  get length(): number {
    return this.#length;
  }

  get digest(): ContentDigest {
    return { length: this.#length, hash: hex(this.#low) + hex(this.#high) };
  }

  add(part: Part): void {
    if (isPlainText(part)) this.#text(part.text);
    else this.#whole(part);
  }

  /**
   * Adds no more than so many units of a part and gives the part that is left, if one is. `too-long`: the part cannot be split and has
   * more units.
   */
  addUpTo(part: Part, units: number): Part | "too-long" | undefined {
    if (isPlainText(part)) {
      this.#text(part.text.slice(0, units));
      return part.text.length > units ? { ...part, text: part.text.slice(units) } : undefined;
    }
    const before = this.#length;
    this.#whole(part);
    return this.#length - before > units ? "too-long" : undefined;
  }

  #whole(part: Part): void {
    this.#unit(SEPARATOR);
    this.#json(part, 0);
    this.#unit(SEPARATOR);
  }

  /** Members in the order of their names: agents need not keep the order in which they wrote them. */
  #json(value: unknown, depth: number): void {
    if (typeof value !== "object" || value === null) {
      this.#text(JSON.stringify(value) ?? "");
      return;
    }
    if (depth > MAX_DEPTH) return;
    this.#unit(SEPARATOR + 1);
    for (const name of Object.keys(value).sort()) {
      this.#text(name);
      this.#unit(SEPARATOR + 2);
      // Safe: it is one of its own names.
      this.#json((value as Readonly<Record<string, unknown>>)[name], depth + 1);
    }
    this.#unit(SEPARATOR + 3);
  }

  #text(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      low = Math.imul(low ^ unit, 0x9e37_79b1);
      high = Math.imul((high << 5) ^ (high >>> 27) ^ unit, 0x85eb_ca77);
    }
    this.#low = low;
    this.#high = high;
    this.#length += text.length;
  }

  #unit(unit: number): void {
    this.#low = Math.imul(this.#low ^ unit, 0x9e37_79b1);
    this.#high = Math.imul((this.#high << 5) ^ (this.#high >>> 27) ^ unit, 0x85eb_ca77);
    this.#length++;
  }
}

/** A text by its hash and length. */
export function hashOf(text: string): string {
  const hash = new ContentHash();
  hash.add({ text });
  return `${hash.digest.hash}${text.length}`;
}

/** Whether a part is nothing but its text. */
export function isPlainText(part: Part): part is TextPart {
  return part.text !== undefined && part.metadata === undefined && part.filename === undefined;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
