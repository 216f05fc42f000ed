import type { JsonObject, JsonValue } from "./json.ts";
import type { TraceContext } from "./trace-context.ts";

/** The ids of a span as the metadata of an event. All events that a span writes have the same object, whose JSON is made once. */
export class SpanMetadata {
  readonly [name: string]: JsonValue;
  readonly traceId: string;
  readonly spanId: string;
  #json: string | undefined;

  constructor({ traceId, spanId }: TraceContext) {
    this.traceId = traceId;
    this.spanId = spanId;
  }

  /** The metadata of an event as JSON. */
  static jsonOf(metadata: JsonObject): string {
    if (!(#json in metadata)) return JSON.stringify(metadata);
    metadata.#json ??= JSON.stringify(metadata);
    return metadata.#json;
  }
}
