import type { JsonObject, JsonValue } from "./json.ts";

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
/** Printable ASCII. The vendors that write the list validate its members. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
/** The flag `sampled`: the trace is recorded. */
const SAMPLED = 1;

/** A place in a distributed trace (W3C Trace Context): work that belongs there is a child of its span. */
export interface TraceContext {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string;
  /** Of the parent span: 16 hexadecimal digits in lower case. */
  readonly spanId: string;
  /** The trace flags, 0 to 255; bit 0: the trace is recorded. */
  readonly flags: number;
  /** The header `tracestate`, passed on unchanged. */
  readonly state?: string;
}

/**
 * Reads the headers `traceparent` and `tracestate`. `undefined` if the first is absent or invalid (W3C Trace Context §3.2); a `tracestate` that
 * is invalid or longer than 512 characters is left out (§3.3.1).
 */
export function readTraceContext(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const state = tracestate?.trim();
  const isValid = state !== undefined && TRACESTATE.test(state);
  return { traceId, spanId, flags: Number.parseInt(flags, 16), ...(isValid && { state }) };
}

/** The header `traceparent`: `00-<trace id>-<span id>-<flags>`. */
export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
}

/** The span whose ids an event's metadata contains; `undefined` if either is missing or malformed. */
export function traceContextIn(metadata: Readonly<Record<string, unknown>> | undefined): TraceContext | undefined {
  const { traceId, spanId } = metadata ?? {};
  if (typeof traceId !== "string" || typeof spanId !== "string") return undefined;
  return TRACE_ID.test(traceId) && SPAN_ID.test(spanId) ? { traceId, spanId, flags: SAMPLED } : undefined;
}

/** The ids of a span as the metadata of an event. All events that a span writes have the same object, whose JSON is made once. */
export class SpanMetadata {
  readonly [name: string]: JsonValue;
  readonly traceId: string;
  readonly spanId: string;
  #json: string | undefined;

  constructor({ traceId, spanId }: TraceContext) {
    this.traceId = traceId;
    this.spanId = spanId;
  }

  /** Whether an event has exactly the ids of a span as its metadata. */
  static isIn(metadata: JsonObject): metadata is SpanMetadata {
    return #json in metadata;
  }

  /** The metadata of an event as JSON. */
  static jsonOf(metadata: JsonObject): string {
    if (!(#json in metadata)) return JSON.stringify(metadata);
    // Ids have nothing to be escaped.
    metadata.#json ??= `{"traceId":"${metadata.traceId}","spanId":"${metadata.spanId}"}`;
    return metadata.#json;
  }
}
