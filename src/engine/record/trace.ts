import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../protocol/json.ts";

/** What events say of the trace they were written in. The span is the run's own. */
export function traceMetadata(traceId: string): JsonObject {
  return { traceId, spanId: randomBytes(8).toString("hex") };
}
