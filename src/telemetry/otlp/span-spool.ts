import type { SpanQueue } from "./span-queue.ts";
import type { ReportedSpan } from "./span-sink.ts";

/**
 * Keeps spans that were not sent yet where a crash of the process does not lose them. All functions are fast and never throw: a span that cannot
 * be kept is sent as usual.
 */
export interface SpanSpool {
  /** Spans that wait to be sent. At first those of an earlier process that it had not sent; those that had not ended have an end now. */
  readonly queue: SpanQueue;
  /** A span has begun whose context may leave the process, or be stored. */
  began(span: ReportedSpan): void;
  /** A span has ended and is in the queue. The same object as at its beginning, if that was reported. */
  ended(span: ReportedSpan): void;
  /** A span will not be sent. */
  forget(span: ReportedSpan): void;
  /** Keeps what was reported so far, now. Otherwise that happens soon. */
  flush(): void;
  /** The collector has `count` spans, which were the first of the queue. */
  sent(count: number): void;
  close(): void;
}
