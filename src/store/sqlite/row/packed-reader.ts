import type { Scope } from "../../../protocol/principal.ts";
import type { Packed } from "./packed.ts";

/** Reads a packed list value by value. Throws if a value does not have the expected type. */
export class PackedReader {
  readonly #packed: Packed;
  #at = 0;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#packed.length;
  }

  text(): string {
    const value = this.#packed[this.#at++];
    if (typeof value !== "string") throw this.#mismatch("text", value);
    return value;
  }

  textOrNull(): string | null {
    return this.#packed[this.#at] === null ? this.#skip() : this.text();
  }

  number(): number {
    const value = this.#packed[this.#at++];
    if (typeof value !== "number") throw this.#mismatch("number", value);
    return value;
  }

  numberOrNull(): number | null {
    return this.#packed[this.#at] === null ? this.#skip() : this.number();
  }

  flag(): boolean {
    return this.number() === 1;
  }

  scope(): Scope {
    return { agent: this.text(), tenant: this.text(), owner: this.text() };
  }

  list<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.number(); left > 0; left--) items.push(read());
    return items;
  }

  #skip(): null {
    this.#at += 1;
    return null;
  }

  #mismatch(expected: string, found: unknown): Error {
    return new Error(`Expected a ${expected} at ${this.#at - 1} of a packed batch, found ${typeof found}.`);
  }
}
