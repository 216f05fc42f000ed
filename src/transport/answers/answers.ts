import { A2AError } from "../../protocol/error.ts";
import { AnswerSource, type SourceOwner } from "./answer-source.ts";

export interface AnswersOptions {
  /** The most bytes that all longer answers together hold in memory. */
  readonly maxBytes: number;
  /** Milliseconds after which a reader that reads nothing is disconnected. */
  readonly readerTimeoutMs: number;
}

/** Shorter answers are not counted, and are sent at once. */
export const COUNTED_BYTES = 65_536;
/** Bytes that an answer in pieces holds besides the current piece: the part of the task it is encoded from. */
const PIECES_BYTES = 1024 * 1024;
const RETRY_AFTER = 5;

/** How an answer counts, and what to call when it ends. */
export interface AnswerKind {
  /** The operation has already changed something, and a retry would repeat it: refused only at twice the limit. */
  readonly afterWork: boolean;
  readonly ended: (error: unknown) => void;
}

/** All longer answers that are being sent: bounds the memory they hold, and disconnects readers that read nothing. */
export class Answers implements SourceOwner {
  readonly #options: AnswersOptions;
  readonly #sources = new Set<AnswerSource>();
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Bytes that the longer answers hold now. */
  get held(): number {
    return this.#held;
  }

  /** Sends a text in slices. Throws `unavailable` if the longer answers hold too much memory. */
  ofText(text: string, kind: AnswerKind): AnswerSource {
    return this.#open({ text, base: 0 }, kind);
  }

  /** Sends pieces that are produced on demand. `base`: bytes that stay in memory until the end. Throws as {@link ofText} does. */
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
    // A single answer is always sent, however large: it would never fit otherwise.
    if (this.#held > 0 && this.#held + bytes > (afterWork ? 2 * maxBytes : maxBytes)) {
      throw new A2AError("unavailable", `Too many large answers are being sent; try again in ${RETRY_AFTER} s`, {
        retryAfter: RETRY_AFTER,
      });
    }
    const source = new AnswerSource({ ...start, owner: this, ended });
    this.#sources.add(source);
    this.#timer ??= setInterval(() => this.#disconnectIdleReaders(), readerTimeoutMs / 4).unref();
    return source;
  }

  #disconnectIdleReaders(): void {
    const latest = performance.now() - this.#options.readerTimeoutMs;
    for (const source of this.#sources) if (source.offeredAt < latest) source.abandon();
  }
}
