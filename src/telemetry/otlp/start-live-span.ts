import type { TraceContext } from "../../protocol/trace-context.ts";
import { isSampled, type Sampler } from "../spans/sampler.ts";
import type { StartSpan } from "../spans/span-factory.ts";
import { randomSpanId, randomTraceId } from "../spans/span-ids.ts";
import { LiveSpan } from "./live-span.ts";
import type { SpanSink } from "./span-sink.ts";

/** Starts spans that are reported to a sink. */
export function liveSpans(sink: SpanSink, sampler: Sampler): StartSpan {
  return (span) => {
    const { parent, spanId = randomSpanId() } = span;
    const traceId = parent?.traceId ?? randomTraceId();
    const sampled = isSampled(sampler, traceId, parent);
    const flags = sampled ? 1 : 0;
    const state = parent?.state;
    const context: TraceContext = state === undefined ? { traceId, spanId, flags } : { traceId, spanId, flags, state };
    return new LiveSpan(span, { context, parentSpanId: parentOf(parent) }, sampled ? sink : undefined);
  };
}

/** Tasks of earlier releases have a trace but no parent span: it is stored as zeros. */
const UNKNOWN_SPAN = "0000000000000000";

function parentOf(parent: TraceContext | undefined): string | undefined {
  return parent === undefined || parent.spanId === UNKNOWN_SPAN ? undefined : parent.spanId;
}
