import { nextTurn } from "../../internal/next-turn.ts";
import type { PullSource } from "../exchange.ts";

/** Who counts what sources hold. */
export interface SourceOwner {
  /** So many bytes more, or fewer. */
  hold(bytes: number): void;
  closed(source: AnswerSource): void;
}

export interface AnswerSourceOptions {
  readonly owner: SourceOwner;
  /** What is sent first. */
  readonly text: string;
  /** What is sent after it. */
  readonly pieces?: AsyncGenerator<string> | undefined;
  /** Bytes that count until the end. */
  readonly base: number;
  /** Called once: everything was sent, nobody reads on, or, with what went wrong, the rest could not be made. */
  readonly ended: (error: unknown) => void;
}

/** Characters that the connection is given at a time. */
const SLICE = 256 * 1024;
/** Shorter pieces are gathered up to this. */
const GATHERED = 64 * 1024;

/** An answer handed to its connection bit by bit, so that no more of it is in memory than its reader is about to take. */
export class AnswerSource implements PullSource<string> {
  readonly #owner: SourceOwner;
  readonly #pieces: AsyncGenerator<string> | undefined;
  readonly #base: number;
  readonly #ended: AnswerSourceOptions["ended"];
  #text: string;
  #counted = 0;
  #done = false;
  #disconnect: (() => void) | undefined;
  /** When the reader was last given something to take; later than any time while it waits for more. */
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

  /** The reader takes nothing. */
  abandon(): void {
    this.#close(undefined);
    this.#disconnect?.();
  }

  async #next(pieces: AsyncGenerator<string>): Promise<string | undefined> {
    this.offeredAt = Number.POSITIVE_INFINITY;
    try {
      // Answers take turns: making a piece takes a while, and a quick reader is ready for the next at once.
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
    // Both halves of a character outside the basic plane must go together.
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
    // Whatever it still reads is of no use to anybody.
    void this.#pieces?.return(undefined).catch(() => undefined);
    this.#ended(error);
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
