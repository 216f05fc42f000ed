import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../protocol/json.ts";

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace id of a W3C `traceparent` header; `undefined` if it is absent or invalid. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : TRACEPARENT.exec(traceparent.trim())?.[1];
}

/** Metadata of an event: the request's trace id and a new span id for the run. */
export function traceMetadata(traceId: string): JsonObject {
  return { traceId, spanId: randomBytes(8).toString("hex") };
}
