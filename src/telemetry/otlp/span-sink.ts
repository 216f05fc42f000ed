import type { SpanText } from "./otlp-json.ts";

/** Receives spans. Its functions must be fast and must not throw. */
export interface SpanSink {
  /**
   * A span has begun, and its context is about to be stored with a task, or to leave the process, which `leaves` says. Called once per span, at most.
   * The span may change until it ends.
   */
  began?(span: SpanText, leaves: boolean): void;
  /** A span has ended. */
  ended(span: SpanText): void;
}
