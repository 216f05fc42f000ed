import { readTraceContext, type TraceContext } from "../protocol/trace-context.ts";
import type { Exchange } from "./exchange.ts";

/** The trace context in the headers of a request. */
export function traceOf(exchange: Exchange): TraceContext | undefined {
  const traceparent = exchange.header("traceparent");
  return traceparent === undefined ? undefined : readTraceContext(traceparent, exchange.header("tracestate"));
}
