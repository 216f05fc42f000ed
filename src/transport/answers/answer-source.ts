import { nextTurn } from "../../internal/next-turn.ts";
import type { PullSource } from "../exchange.ts";

/** Counts the memory of sources. */
export interface SourceOwner {
  /** Adds bytes; negative to subtract. */
  hold(bytes: number): void;
  closed(source: AnswerSource): void;
}

export interface AnswerSourceOptions {
  readonly owner: SourceOwner;
  /** Sent first. */
  readonly text: string;
  /** Sent after `text`. */
  readonly pieces?: AsyncGenerator<string> | undefined;
  /** Bytes that are counted until the end. */
  readonly base: number;
  /** Called once: all is sent or the reader is gone; with an error if the rest could not be produced. */
  readonly ended: (error: unknown) => void;
}

/** The most characters written to the connection at a time. */
const SLICE = 256 * 1024;
/** Shorter pieces are joined up to this many characters. */
const GATHERED = 64 * 1024;

/** An answer that is written in slices on demand, so that a slow reader does not keep all of it in memory twice. */
export class AnswerSource implements PullSource<string> {
  readonly #owner: SourceOwner;
  readonly #pieces: AsyncGenerator<string> | undefined;
  readonly #base: number;
  readonly #ended: AnswerSourceOptions["ended"];
  #text: string;
  #counted = 0;
  #done = false;
  #disconnect: (() => void) | undefined;
  /** When the last slice was handed to the connection; infinite while the next piece is being produced. */
  offeredAt: number = performance.now();

  constructor({ owner, text, pieces, base, ended }: AnswerSourceOptions) {
    this.#owner = owner;
    this.#pieces = pieces;
    this.#text = text;
    this.#base = base;
    this.#ended = ended;
    this.#count(base + text.length);
  }

  connected(disconnect: () => void): void {
    this.#disconnect = disconnect;
  }

  pull(): string | undefined | Promise<string | undefined> {
    if (this.#done) return undefined;
    if (this.#text !== "") return this.#slice();
    if (this.#pieces === undefined) {
      this.#close(undefined);
      return undefined;
    }
    return this.#next(this.#pieces);
  }

  cancel(): void {
    this.#close(undefined);
  }

  /** Disconnects a reader that reads nothing. */
  abandon(): void {
    this.#close(undefined);
    this.#disconnect?.();
  }

  async #next(pieces: AsyncGenerator<string>): Promise<string | undefined> {
    this.offeredAt = Number.POSITIVE_INFINITY;
    try {
      // Answers take turns: producing a piece takes a while, and a fast reader asks for the next immediately.
      await nextTurn();
      let text = "";
      while (text.length < GATHERED && !this.#done) {
        const next = await pieces.next();
        if (next.done === true) break;
        text += next.value;
      }
      if (this.#done) return undefined;
      this.#text = text;
    } catch (thrown) {
      this.#close(thrown);
      throw thrown;
    }
    if (this.#text === "") {
      this.#close(undefined);
      return undefined;
    }
    return this.#slice();
  }

  #slice(): string {
    const text = this.#text;
    this.#count(this.#base + text.length);
    this.offeredAt = performance.now();
    if (text.length <= SLICE) {
      this.#text = "";
      return text;
    }
    // Do not split a surrogate pair.
    const end = isHighSurrogate(text.charCodeAt(SLICE - 1)) ? SLICE - 1 : SLICE;
    this.#text = text.slice(end);
    return text.slice(0, end);
  }

  #count(bytes: number): void {
    this.#owner.hold(bytes - this.#counted);
    this.#counted = bytes;
  }

  #close(error: unknown): void {
    if (this.#done) return;
    this.#done = true;
    this.#text = "";
    this.#count(0);
    this.#owner.closed(this);
    // Stop the generator: nobody reads its pieces any more.
    void this.#pieces?.return(undefined).catch(() => undefined);
    this.#ended(error);
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
