import type { TraceContext } from "../protocol/trace-context.ts";
import type { Telemetry } from "./contract.ts";

/** A context that knows who observes its span. A copy, and what is stored, does not. */
class OwnedTrace implements TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  declare readonly state?: string;
  readonly #owner: Pick<Telemetry, "request">;
  #requests = 0;

  constructor({ traceId, spanId, flags, state }: TraceContext, owner: Pick<Telemetry, "request">) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.flags = flags;
    if (state !== undefined) this.state = state;
    this.#owner = owner;
  }

  static countRequest(trace: TraceContext): number | undefined {
    if (!(#requests in trace)) return undefined;
    trace.#requests += 1;
    return trace.#requests;
  }

  static ownerOf(trace: TraceContext): Pick<Telemetry, "request"> | undefined {
    return #owner in trace ? trace.#owner : undefined;
  }
}

/** A context that says who observes its span, so that requests inside the span are observed by the same. */
export function ownedBy(trace: TraceContext, telemetry: Pick<Telemetry, "request">): TraceContext {
  return new OwnedTrace(trace, telemetry);
}

/** Who observes the span of a context; `undefined` if it came from outside. */
export function telemetryOf(trace: TraceContext | undefined): Pick<Telemetry, "request"> | undefined {
  return trace === undefined ? undefined : OwnedTrace.ownerOf(trace);
}

/** The number of the next request inside the span of a context, from 1 on; `undefined` if the context came from outside. */
export function nextRequestOf(trace: TraceContext | undefined): number | undefined {
  return trace === undefined ? undefined : OwnedTrace.countRequest(trace);
}
