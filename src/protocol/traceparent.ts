const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;

/** One span of a trace (W3C Trace Context), both ids in lower-case hexadecimal. */
export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
}

/** The trace id in a `traceparent` header; `undefined` if the header is absent or invalid (W3C Trace Context §3.2). */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : TRACEPARENT.exec(traceparent.trim())?.[1];
}

/** The `traceparent` header that makes a request part of this span, marked as sampled. */
export function traceparentOf({ traceId, spanId }: TraceSpan): string {
  return `00-${traceId}-${spanId}-01`;
}

/** The span whose ids an event's metadata contains; `undefined` if either is missing or malformed. */
export function traceSpanIn(metadata: Readonly<Record<string, unknown>> | undefined): TraceSpan | undefined {
  const { traceId, spanId } = metadata ?? {};
  if (typeof traceId !== "string" || typeof spanId !== "string") return undefined;
  return TRACE_ID.test(traceId) && SPAN_ID.test(spanId) ? { traceId, spanId } : undefined;
}
