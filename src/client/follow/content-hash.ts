import type { Part, TextPart } from "../../protocol/part.ts";

/** The length of some content, in units of the hash, and its hash. */
export interface ContentDigest {
  readonly length: number;
  readonly hash: string;
}

/** Marks parts that are not plain text. No code unit of a text has this value. */
const SEPARATOR = 0x1_0000;
/** JSON below this depth is ignored. */
const MAX_DEPTH = 100;

/**
 * An incremental 64-bit hash over parts. It is not cryptographic: a server that produces collisions confuses only readers of its own
 * streams.
 */
export class ContentHash {
  #low = 0x9e37_79b9;
  #high = 0x85eb_ca6b;
  #length = 0;

  /** Continues from a digest. */
  constructor(from?: ContentDigest) {
    if (from === undefined) return;
    this.#length = from.length;
    this.#low = Number.parseInt(from.hash.slice(0, 8), 16) | 0;
    this.#high = Number.parseInt(from.hash.slice(8), 16) | 0;
  }

  /** Code units of text; for other parts, about the length of their JSON. */
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
   * Adds at most this many units of a part and returns the rest of the part, if any. `too-long`: the part is longer and cannot be split.
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

  /** Members are sorted by name: agents need not keep their order. */
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
      // Safe: `name` is one of the object's own keys.
      this.#json((value as Readonly<Record<string, unknown>>)[name], depth + 1);
    }
    this.#unit(SEPARATOR + 3);
  }

  /** Uses local variables, because it runs once per character of every stream. */
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

/** A short key for a text: its hash and length. */
export function hashOf(text: string): string {
  const hash = new ContentHash();
  hash.add({ text });
  return `${hash.digest.hash}${text.length}`;
}

/** Whether a part has only text, without metadata or file name. */
export function isPlainText(part: Part): part is TextPart {
  return part.text !== undefined && part.metadata === undefined && part.filename === undefined;
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
