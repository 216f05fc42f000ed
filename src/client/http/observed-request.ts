import type { Operation } from "../../protocol/operation.ts";
import { type TraceContext, writeTraceparent } from "../../protocol/trace-context.ts";
import { telemetryOf } from "../../telemetry/telemetry-of.ts";
import { callTrace } from "./call-trace.ts";
import type { ClientSettings } from "./settings.ts";

interface Observed<T> {
  readonly call: { readonly url: string; readonly operation: Operation };
  readonly signal: AbortSignal;
  /** Sends the request. `trace`: where it belongs in a trace, if anywhere. */
  send(trace: TraceContext | undefined): Promise<T>;
  httpStatus(answer: T): number;
}

/** Sends a request, as a span of its own if the client is observed. */
export async function observedRequest<T>(settings: ClientSettings, request: Observed<T>): Promise<T> {
  const { url, operation } = request.call;
  const trace = callTrace(request.signal);
  // A request inside the span of a task is observed by the server that runs the task.
  const telemetry = settings.telemetry ?? telemetryOf(trace);
  const span = telemetry?.request?.({ url: withoutSecrets(url), operation, trace });
  if (span === undefined) return request.send(trace);
  try {
    const answer = await request.send(span.trace);
    span.end({ httpStatus: request.httpStatus(answer), error: undefined });
    return answer;
  } catch (error) {
    span.end({ httpStatus: undefined, error });
    throw error;
  }
}

/** Adds the headers of a trace context (W3C Trace Context §3). */
export function setTrace(headers: Headers, trace: TraceContext | undefined): void {
  if (trace === undefined) return;
  headers.set("traceparent", writeTraceparent(trace));
  if (trace.state !== undefined) headers.set("tracestate", trace.state);
}

/** The URL without user, password, query and fragment. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
