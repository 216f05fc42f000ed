import type { TraceContext } from "../../protocol/trace-context.ts";
import type { Attributes, SharedAttributes, SpanKind } from "./span-data.ts";

/** A span to be started. */
export interface NewSpan {
  /** The place in a trace that it belongs to; `undefined`: it starts a trace. */
  readonly parent: TraceContext | undefined;
  /** Derived from the work, if the work has an identity. Absent: random. */
  readonly spanId?: string;
  readonly name: string;
  readonly kind: SpanKind;
  /** Attributes that other spans have as well. */
  readonly shared?: SharedAttributes;
  readonly attributes?: Attributes;
  /** The context leaves the process with a commit of the task, hardly before. Absent: it may leave at once. */
  readonly isStoredFirst?: boolean;
  /** The span of the same work that this one continues. */
  readonly continues?: TraceContext | undefined;
}

/** How a span ended. */
export interface SpanOutcome {
  /** Replaces the name, if it was not known at the beginning. */
  readonly name?: string | undefined;
  readonly shared?: SharedAttributes;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/** A span that has not ended. */
export interface OpenSpan {
  readonly trace: TraceContext;
  addEvent(name: string, attributes: SharedAttributes): void;
  /** Ends the span. Later calls do nothing. */
  finish(outcome: SpanOutcome): void;
}

/** Starts spans: this package's own, or those of the OpenTelemetry API. */
export type StartSpan = (span: NewSpan) => OpenSpan;
