import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../protocol/json.ts";

/** Metadata of an event: the request's trace id and a new span id for the run. */
export function traceMetadata(traceId: string): JsonObject {
  return { traceId, spanId: randomBytes(8).toString("hex") };
}
