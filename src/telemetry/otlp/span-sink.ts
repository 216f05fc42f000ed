import type { SpanData } from "../spans/span-data.ts";

/** A span that is reported to a sink. It may change until it ends. */
export interface ReportedSpan extends SpanData {
  /** Where a spool keeps the span until it ends; -1: nowhere. Only the spool uses it. */
  place: number;
  /** Whether the spool has written its beginning. Only the spool uses it. */
  isWritten: boolean;
}

/** Receives spans. Its functions must be fast and must not throw. */
export interface SpanSink {
  /**
   * A span has begun, and its context is about to be stored with a task, or to leave the process, which `leaves` says. Called once per span, at most.
   */
  began?(span: ReportedSpan, leaves: boolean): void;
  /** A span has ended. */
  ended(span: ReportedSpan): void;
}

/** A span that was made afterwards, for a sink. */
export function reported(span: SpanData): ReportedSpan {
  return { ...span, place: -1, isWritten: false };
}
