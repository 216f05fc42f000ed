/**
 * Keeps spans that were not sent yet where a crash of the process does not lose them. Spans are JSON texts as `spanJson` writes them. All
 * functions are fast and never throw: a span that cannot be kept is sent as usual.
 */
export interface SpanSpool {
  /** Spans of an earlier process that it had not sent. Those that had not ended have an end now. */
  readonly recovered: readonly string[];
  /** A span has begun whose context may leave the process, or be stored. */
  began(spanId: string, span: string): void;
  ended(spanId: string, span: string): void;
  /** A span will not be sent. */
  forget(spanId: string): void;
  /** Keeps what was reported so far, now. Otherwise that happens soon. */
  flush(): void;
  /** The collector has the first `count` spans of those that wait: the recovered ones, then the others in the order in which they ended. */
  sent(count: number): void;
  close(): void;
}
