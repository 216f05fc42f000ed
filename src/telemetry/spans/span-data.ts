import type { TraceContext } from "../../protocol/trace-context.ts";

/** A value of an attribute. */
export type AttributeValue = string | number | boolean | string[];
/** Members that are `undefined` are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** Attributes that many spans have. One object for all of them, so that their JSON is made once. */
export interface SharedAttributes {
  readonly values: Attributes;
  /** Only the exporter that writes JSON uses it. */
  json: string | undefined;
}

/** Which side of a call a span is on, as in OpenTelemetry. */
export type SpanKind = "internal" | "server" | "client";

/** Something that happened at one time inside a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
  readonly attributes: SharedAttributes;
}

/** A span of a trace. All times are milliseconds since 1970, with fractions. */
export interface SpanData {
  readonly context: TraceContext;
  /** The span that it is part of; `undefined`: it is the first of its trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: number;
  /** `undefined`: it has not ended. */
  readonly end: number | undefined;
  /** Attributes that other spans have as well. */
  readonly shared?: SharedAttributes | undefined;
  readonly attributes: Attributes;
  /** Attributes that were not known at the beginning. */
  readonly endShared?: SharedAttributes | undefined;
  readonly endAttributes?: Attributes | undefined;
  readonly events: readonly SpanEvent[];
  /** Events that were left out because there were too many. */
  readonly droppedEvents: number;
  /** Spans that this one continues. */
  readonly links: readonly TraceContext[];
  /** Whether the work failed. */
  readonly failed: boolean;
}
