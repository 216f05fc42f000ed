import type { SpanData } from "../spans/span-data.ts";
import { writeSpan } from "./span-bytes.ts";
import { TextBytes, type TextEncoding } from "./text-bytes.ts";

/** Bytes of spans after which a request is full. */
const FULL = 1024 * 1024;
/** Room for one more span. */
const ROOM = 16 * 1024;
/** Spans whose bytes are not written yet, at most. */
const MOST_UNWRITTEN = 64;
const encoder = new TextEncoder();
const BETWEEN = encoder.encode(",\n");

/** Spans that are sent together: their JSON, each followed by a comma and a line feed. */
export class SpanBatch {
  readonly text: TextBytes;
  count = 0;

  constructor(encoding?: TextEncoding) {
    this.text = new TextBytes(FULL + ROOM, encoding);
  }

  /** Empties it, to be used again: a new array of this size is slow to make. */
  clear(): void {
    this.text.cutTo(0);
    this.count = 0;
  }

  /** The spans as members of a JSON array. */
  get members(): Uint8Array {
    return this.text.slice(0, Math.max(0, this.text.length - BETWEEN.length));
  }
}

/**
 * Spans that wait to be sent, as the bytes that will be sent: objects and strings that live for a second cost the garbage collector more than
 * all other work of tracing.
 */
export class SpanQueue {
  readonly #encoding: TextEncoding | undefined;
  #batches: SpanBatch[] = [];
  #spare: SpanBatch | undefined;
  #isFirstSealed = false;
  #count = 0;
  /** Ended spans whose bytes are written later, many at a time: each costs less, because the processor's caches have the code for it. */
  readonly #unwritten: SpanData[] = [];

  /** `encoding`: that of the runtime, if it has a faster one than browsers. */
  constructor(encoding?: TextEncoding) {
    this.#encoding = encoding;
  }

  /** Spans that wait, those that are being sent included. */
  get count(): number {
    return this.#count;
  }

  /** Whether as many spans wait as one request has. */
  get hasFullBatch(): boolean {
    return this.#batches.length > 1;
  }

  /** Adds a span that has ended. */
  add(span: SpanData): void {
    this.#count += 1;
    if (this.#unwritten.push(span) >= MOST_UNWRITTEN) this.write();
  }

  /** Writes the bytes of the spans that were added. Otherwise that happens when they are needed. */
  write(): void {
    for (const span of this.#unwritten) {
      const { text } = this.#open();
      writeSpan(text, span);
      text.writeBytes(BETWEEN);
    }
    this.#unwritten.length = 0;
  }

  /** Adds a span that was written before, perhaps by an earlier release, whose spans are not ASCII. */
  addLine(line: string): void {
    this.write();
    this.#count += 1;
    const { text } = this.#open();
    text.writeBytes(encoder.encode(line));
    text.writeBytes(BETWEEN);
  }

  /** The oldest spans, to be sent. Nothing is added to them any more. */
  first(): SpanBatch | undefined {
    this.write();
    this.#isFirstSealed = this.#batches.length > 0;
    return this.#batches[0];
  }

  /** Removes what `first` returned, which must not be used any more. */
  removeFirst(): void {
    const batch = this.#batches.shift();
    this.#isFirstSealed = false;
    if (batch === undefined) return;
    this.#count -= batch.count;
    batch.clear();
    this.#spare = batch;
  }

  /** All that wait, as lines. */
  lines(): readonly Uint8Array[] {
    this.write();
    return this.#batches.map(({ text }) => text.slice());
  }

  /** The batch for one more span. */
  #open(): SpanBatch {
    let batch = this.#batches.length === 1 && this.#isFirstSealed ? undefined : this.#batches.at(-1);
    if (batch === undefined || batch.text.length >= FULL) {
      batch = this.#spare ?? new SpanBatch(this.#encoding);
      this.#spare = undefined;
      this.#batches.push(batch);
    }
    batch.count += 1;
    return batch;
  }
}
