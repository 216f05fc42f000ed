import { tooLarge } from "./body-error.ts";
import type { BodyShare, ReserveBody } from "./body-memory.ts";

export interface BodyBufferOptions {
  /** The largest body, in bytes. */
  readonly limit: number;
  /** The declared `Content-Length`; `undefined` if absent. */
  readonly declared: number | undefined;
  readonly reserve: ReserveBody;
  /** The body is dropped: nothing more may be added. */
  readonly dropped: () => void;
}

/** Bytes allocated at first, then doubled as needed. */
const FIRST_SIZE = 65_536;

/**
 * Collects the chunks of one body. A body of one chunk is not copied. Others are copied into one buffer as they arrive: a chunk of one byte
 * costs as much memory as a hundred bytes, and joining them at the end would need twice the memory.
 */
export class BodyBuffer {
  readonly #options: BodyBufferOptions;
  #only: Uint8Array | undefined;
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  #size = 0;
  #share: BodyShare | undefined;

  constructor(options: BodyBufferOptions) {
    this.#options = options;
  }

  /** Throws `payload-too-large` if the body has grown over its limit; its memory is released then. */
  add(chunk: Uint8Array): void {
    const { limit, declared, reserve, dropped } = this.#options;
    const before = this.#size;
    this.#size += chunk.byteLength;
    if (this.#size > limit) {
      this.release();
      throw tooLarge(limit);
    }
    if (before === 0) this.#only = chunk;
    else this.#append(chunk, before);
    // The body is complete and about to be used.
    if (this.#size === declared) return;
    this.#share ??= reserve(() => {
      this.release();
      dropped();
    });
    this.#share.update(this.#size, this.#bytes?.byteLength ?? this.#size);
  }

  /** The whole body. Its memory is no longer counted. */
  finish(): Uint8Array {
    this.#share?.release();
    return this.#bytes?.subarray(0, this.#size) ?? this.#only ?? new Uint8Array();
  }

  /** Discards the received bytes. Idempotent. */
  release(): void {
    this.#share?.release();
    this.#only = undefined;
    // Free the memory now: the garbage collector would do so much later.
    this.#bytes?.buffer.transfer(0);
    this.#bytes = undefined;
  }

  #append(chunk: Uint8Array, at: number): void {
    const bytes = this.#bytes;
    if (bytes === undefined) {
      this.#bytes = new Uint8Array(this.#capacity());
      this.#bytes.set(this.#only ?? []);
      this.#only = undefined;
    } else if (this.#size > bytes.byteLength) {
      this.#bytes = new Uint8Array(bytes.buffer.transfer(this.#capacity()));
    }
    this.#bytes?.set(chunk, at);
  }

  /** The new capacity: at least the received bytes, and no more than can still arrive, unless the declared length is wrong. */
  #capacity(): number {
    const { limit, declared = limit } = this.#options;
    const doubled = Math.max(FIRST_SIZE, this.#size, 2 * (this.#bytes?.byteLength ?? 0));
    return Math.min(doubled, this.#size <= declared ? declared : limit);
  }
}
