import { A2AError } from "../../protocol/error.ts";
import { AnswerSource, type SourceOwner } from "./answer-source.ts";

export interface AnswersOptions {
  /** Bytes that all answers together may hold. */
  readonly maxBytes: number;
  /** Milliseconds after which a reader that takes nothing is disconnected. */
  readonly readerTimeoutMs: number;
}

/** Answers shorter than this are not counted, and are sent as one text. */
export const COUNTED_BYTES = 65_536;
/** What an answer holds besides the piece that its reader takes: the part of the task it was made of. */
const PIECES_BYTES = 1024 * 1024;
const RETRY_AFTER = 5;

/** What is known of an answer before it is written. */
export interface AnswerKind {
  /** The work is done, and asking again would do it again: refused only at twice the limit. */
  readonly afterWork: boolean;
  readonly ended: (error: unknown) => void;
}

/** The longer answers of a handler that are under way: bounds what they hold, and gives up readers that take nothing. */
export class Answers implements SourceOwner {
  readonly #options: AnswersOptions;
  readonly #sources = new Set<AnswerSource>();
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Bytes that answers under way hold. */
  get held(): number {
    return this.#held;
  }

  /** A text to be sent. Throws `unavailable` where the answers under way hold too much. */
  ofText(text: string, kind: AnswerKind): AnswerSource {
    return this.#open({ text, base: 0 }, kind);
  }

  /** Pieces made as the reader takes them. `base`: bytes that stay in memory until the end. Throws as {@link ofText} does. */
  ofPieces(pieces: AsyncGenerator<string>, base: number, kind: AnswerKind): AnswerSource {
    return this.#open({ pieces, text: "", base: base + PIECES_BYTES }, kind);
  }

  hold(bytes: number): void {
    this.#held += bytes;
  }

  closed(source: AnswerSource): void {
    this.#sources.delete(source);
    if (this.#sources.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #open(
    start: { readonly text: string; readonly pieces?: AsyncGenerator<string>; readonly base: number },
    { afterWork, ended }: AnswerKind,
  ): AnswerSource {
    const { maxBytes, readerTimeoutMs } = this.#options;
    const bytes = start.base + start.text.length;
    // One answer is always sent, however large: it could never be otherwise.
    if (this.#held > 0 && this.#held + bytes > (afterWork ? 2 * maxBytes : maxBytes)) {
      throw new A2AError("unavailable", `Too many large answers are being sent; try again in ${RETRY_AFTER} s`, {
        retryAfter: RETRY_AFTER,
      });
    }
    const source = new AnswerSource({ ...start, owner: this, ended });
    this.#sources.add(source);
    this.#timer ??= setInterval(() => this.#giveUp(), readerTimeoutMs / 4).unref();
    return source;
  }

  #giveUp(): void {
    const latest = performance.now() - this.#options.readerTimeoutMs;
    for (const source of this.#sources) if (source.offeredAt < latest) source.abandon();
  }
}
