import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TraceState,
  trace,
} from "@opentelemetry/api";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { Telemetry } from "../contract.ts";
import { ATTRIBUTE } from "../spans/names.ts";
import { preciseNow } from "../spans/precise-now.ts";
import type { OpenSpan, StartSpan } from "../spans/span-factory.ts";
import { createTracing } from "../spans/tracing.ts";
import { withSpanId } from "./id-generator.ts";

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** Traces with the SDK that the operator has registered; `undefined` if none is registered. */
export function openTelemetry(): Telemetry | undefined {
  return isRegistered() ? createTracing(startSpan) : undefined;
}

/** Without an SDK, the API makes spans without ids. The span is not ended, so an SDK does not export it. */
function isRegistered(): boolean {
  return isSpanContextValid(trace.getTracer("palaver").startSpan("palaver").spanContext());
}

const startSpan: StartSpan = ({ parent, spanId, name, kind, shared, attributes, continues }) => {
  const around = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent));
  const links = continues === undefined ? {} : { links: [{ context: toSpanContext(continues) }] };
  const known = { ...shared?.values, ...attributes, [ATTRIBUTE.spanKey]: spanId };
  const options = { kind: KINDS[kind], attributes: known, startTime: preciseNow(), ...links };
  const span = withSpanId(spanId, () => trace.getTracer("palaver").startSpan(name, options, around));
  let context: TraceContext | undefined;
  const open: OpenSpan = {
    get trace() {
      context ??= toTraceContext(span.spanContext());
      return context;
    },
    addEvent: (eventName, { values }) => void span.addEvent(eventName, { ...values }, preciseNow()),
    finish(outcome) {
      if (!span.isRecording()) return;
      if (outcome.name !== undefined) span.updateName(outcome.name);
      span.setAttributes({ ...outcome.shared?.values, ...outcome.attributes });
      if (outcome.failed === true) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(preciseNow());
    },
  };
  return open;
};

function toSpanContext({ traceId, spanId, flags, state }: TraceContext): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: unchanged(state) }),
  };
}

/** The header `tracestate` as it came: only the vendors that wrote it read it. */
function unchanged(header: string): TraceState {
  const state: TraceState = { get: () => undefined, set: () => state, unset: () => state, serialize: () => header };
  return state;
}

function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const state = traceState?.serialize();
  return { traceId, spanId, flags: traceFlags, ...(state && { state }) };
}
