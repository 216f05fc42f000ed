import type { TraceContext } from "../../protocol/trace-context.ts";

/** The trace of a call travels with the call's own signal, which every request of the call gets. Absent: no call had one. */
let traces: WeakMap<AbortSignal, TraceContext> | undefined;

/** `signal` must belong to one call only. */
export function setCallTrace(signal: AbortSignal, trace: TraceContext | undefined): void {
  if (trace === undefined) return;
  traces ??= new WeakMap();
  traces.set(signal, trace);
}

/** The place in a trace that the caller of `send`, `stream` and so on chose. */
export function callTrace(signal: AbortSignal): TraceContext | undefined {
  return traces?.get(signal);
}
