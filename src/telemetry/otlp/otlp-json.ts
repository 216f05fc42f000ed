import type { Attributes, AttributeValue, SpanData } from "../spans/span-data.ts";

/** Names and values that describe the process that writes the spans. */
export type Resource = Readonly<Record<string, string>>;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR_STATUS = 2;

/** A span as a JSON text of OTLP (opentelemetry-proto, `trace.proto`). Without an end if it has not ended. */
export function spanJson(span: SpanData): string {
  const { context, parentSpanId, name, kind, start, end, attributes, events, droppedEvents, links, failed } = span;
  let text = `{"traceId":"${context.traceId}","spanId":"${context.spanId}"`;
  if (context.state !== undefined) text += `,"traceState":${JSON.stringify(context.state)}`;
  if (parentSpanId !== undefined) text += `,"parentSpanId":"${parentSpanId}"`;
  text += `,"flags":${context.flags},"name":${JSON.stringify(name)},"kind":${KINDS[kind]}`;
  text += `,"startTimeUnixNano":"${nanoseconds(start)}"`;
  if (end !== undefined) text += `,"endTimeUnixNano":"${nanoseconds(end)}"`;
  text += `,"attributes":${attributesJson(attributes)}`;
  if (events.length > 0) {
    const written = events.map(
      (event) =>
        `{"timeUnixNano":"${nanoseconds(event.at)}","name":${JSON.stringify(event.name)},"attributes":${attributesJson(event.attributes)}}`,
    );
    text += `,"events":[${written.join()}]`;
  }
  if (droppedEvents > 0) text += `,"droppedEventsCount":${droppedEvents}`;
  if (links.length > 0) {
    text += `,"links":[${links.map(({ traceId, spanId }) => `{"traceId":"${traceId}","spanId":"${spanId}"}`).join()}]`;
  }
  return inOnePiece(failed ? `${text},"status":{"code":${ERROR_STATUS}}}` : `${text}}`);
}

const scratch = Buffer.allocUnsafeSlow(16_384);

/**
 * The same text. V8 keeps a text that was put together as a tree of its pieces, several times as large, and a span waits for a second before it is sent:
 * with trees, collecting garbage cost more than all other work of tracing.
 */
function inOnePiece(text: string): string {
  // A character has at most 3 bytes per unit of length.
  if (text.length * 3 > scratch.length) return text;
  return scratch.toString("utf8", 0, scratch.write(text, "utf8"));
}

/** The body of a request to `/v1/traces` with these spans, each as `spanJson` writes it. */
export function tracesRequest(resource: Resource, spans: readonly string[]): string {
  const scope = `{"scope":{"name":"palaver"},"spans":[${spans.join()}]}`;
  return `{"resourceSpans":[{"resource":{"attributes":${attributesJson(resource)}},"scopeSpans":[${scope}]}]}`;
}

function attributesJson(attributes: Attributes): string {
  let text = "";
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    text += `${text === "" ? "" : ","}${keyJson(key)}${valueJson(value)}}`;
  }
  return `[${text}]`;
}

/** The names of attributes are few, and written again and again. */
const KEYS = new Map<string, string>();
const MAX_KEYS = 256;

function keyJson(key: string): string {
  const known = KEYS.get(key);
  if (known !== undefined) return known;
  const text = `{"key":${JSON.stringify(key)},"value":`;
  if (KEYS.size < MAX_KEYS) KEYS.set(key, text);
  return text;
}

/** 64-bit numbers are strings in the JSON of protobuf. */
function valueJson(value: AttributeValue): string {
  if (typeof value === "string") return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === "boolean") return `{"boolValue":${value}}`;
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`;
}

/** From milliseconds. A double cannot hold them as one number, so the text is put together from microseconds. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`;
}
