import type { TraceContext } from "../../protocol/trace-context.ts";

/** Which traces are recorded. */
export interface Sampler {
  /** Part of the new traces that is recorded: 0 to 1. */
  readonly ratio: number;
  /** Whether the caller decides, where there is one: its trace flags say whether it records the trace. */
  readonly byParent: boolean;
}

/** All new traces, and those of callers that record theirs. The default of OpenTelemetry. */
export const EVERYTHING: Sampler = { ratio: 1, byParent: true };

const RECORDED = 1;

/** Whether a trace is recorded. The same trace gets the same answer from every process with the same ratio. */
export function isSampled({ ratio, byParent }: Sampler, traceId: string, parent: TraceContext | undefined): boolean {
  if (byParent && parent !== undefined) return (parent.flags & RECORDED) !== 0;
  if (ratio >= 1) return true;
  // The last 56 bits of a trace id are random (W3C Trace Context Level 2 §3.2.2.3); 48 fit into a number.
  return Number.parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48;
}
