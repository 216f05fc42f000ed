import type { TraceContext } from "../../protocol/trace-context.ts";
import { isSampled, type Sampler } from "../spans/sampler.ts";
import type { Attributes } from "../spans/span-data.ts";
import type { StartSpan } from "../spans/span-factory.ts";
import { randomSpanId, randomTraceId } from "../spans/span-ids.ts";
import { LiveSpan } from "./live-span.ts";
import type { SpanSink } from "./span-sink.ts";

/** Starts spans that are reported to a sink. */
export function liveSpans(sink: SpanSink, sampler: Sampler): StartSpan {
  return ({
    parent,
    spanId = randomSpanId(),
    name,
    kind,
    shared,
    attributes = NO_ATTRIBUTES,
    isStoredFirst,
    continues,
  }) => {
    const traceId = parent?.traceId ?? randomTraceId();
    const sampled = isSampled(sampler, traceId, parent);
    const flags = sampled ? 1 : 0;
    const state = parent?.state;
    const context: TraceContext = state === undefined ? { traceId, spanId, flags } : { traceId, spanId, flags, state };
    const links = continues === undefined ? NONE : [continues];
    const start = { context, parentSpanId: parentOf(parent), name, kind, shared, attributes, isStoredFirst, links };
    return new LiveSpan(start, sampled ? sink : undefined);
  };
}

const NONE: readonly never[] = [];
const NO_ATTRIBUTES: Attributes = {};

/** Tasks of earlier releases have a trace but no parent span: it is stored as zeros. */
const UNKNOWN_SPAN = "0000000000000000";

function parentOf(parent: TraceContext | undefined): string | undefined {
  return parent === undefined || parent.spanId === UNKNOWN_SPAN ? undefined : parent.spanId;
}
