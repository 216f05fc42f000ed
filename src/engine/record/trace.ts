import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../protocol/json.ts";

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace a W3C `traceparent` belongs to; `undefined` for none and for what is none. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : TRACEPARENT.exec(traceparent.trim())?.[1];
}

/** What events say of the trace they were written in. The span is the run's own. */
export function traceMetadata(traceId: string): JsonObject {
  return { traceId, spanId: randomBytes(8).toString("hex") };
}
