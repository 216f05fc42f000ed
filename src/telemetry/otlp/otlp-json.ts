import type { Attributes, AttributeValue, SpanData, SpanEvent } from "../spans/span-data.ts";

/** Names and values that describe the process that writes the spans. */
export type Resource = Readonly<Record<string, string>>;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR_STATUS = 2;

/** A span as a JSON text of OTLP (opentelemetry-proto, `trace.proto`). Without an end if it has not ended. */
export function spanJson(span: SpanData): string {
  const { context, parentSpanId, end, endAttributes, events, links } = span;
  let text = `{"traceId":"${context.traceId}","spanId":"${context.spanId}`;
  if (parentSpanId !== undefined) text += `","parentSpanId":"${parentSpanId}`;
  text += `","flags":${context.flags},"kind":${KINDS[span.kind]},"name":${quoted(span.name)}`;
  if (context.state !== undefined) text += `,"traceState":${quoted(context.state)}`;
  text += `,"startTimeUnixNano":"${nanoseconds(span.start)}`;
  if (end !== undefined) text += `","endTimeUnixNano":"${nanoseconds(end)}`;
  const attributes = attributesJson(span.attributes, "");
  text += `","attributes":[${endAttributes === undefined ? attributes : attributesJson(endAttributes, attributes)}]`;
  if (events.length > 0) text += `,"events":[${eventsJson(events)}]`;
  if (span.droppedEvents > 0) text += `,"droppedEventsCount":${span.droppedEvents}`;
  if (links.length > 0) {
    text += `,"links":[${links.map(({ traceId, spanId }) => `{"traceId":"${traceId}","spanId":"${spanId}"}`).join()}]`;
  }
  return span.failed ? `${text},"status":{"code":${ERROR_STATUS}}}` : `${text}}`;
}

/** The body of a request to `/v1/traces` is this, the spans with commas between them, and `REQUEST_END`. */
export function requestStart(resource: Resource): string {
  return `{"resourceSpans":[{"resource":{"attributes":[${attributesJson(resource, "")}]},"scopeSpans":[{"scope":{"name":"palaver"},"spans":[`;
}
export const REQUEST_END = "]}]}]}";

function eventsJson(events: readonly SpanEvent[]): string {
  let text = "";
  for (const { name, at, attributes } of events) {
    if (text !== "") text += ",";
    text += `{"timeUnixNano":"${nanoseconds(at)}","name":${quoted(name)},"attributes":[${attributesJson(attributes, "")}]}`;
  }
  return text;
}

/** Appends to the attributes that were written `before`. */
function attributesJson(attributes: Attributes, before: string): string {
  let text = before;
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    if (text !== "") text += ",";
    text += keyJson(key);
    text += valueJson(value);
  }
  return text;
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

/** With the bracket that closes the attribute. 64-bit numbers are strings in the JSON of protobuf. */
function valueJson(value: AttributeValue): string {
  if (typeof value === "string") return `{"stringValue":${quoted(value)}}}`;
  if (typeof value === "boolean") return `{"boolValue":${value}}}`;
  return Number.isInteger(value) ? `{"intValue":"${value}"}}` : `{"doubleValue":${value}}}`;
}

/** Printable ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** As `JSON.stringify`, which is slower for short texts. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

let lastSecond = Number.NaN;
let lastSecondText = "";

/**
 * From milliseconds, exact to the microsecond: a double cannot hold nanoseconds. Spans that are written together are of the same second, whose
 * text is kept, because large numbers are slow to convert.
 */
function nanoseconds(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  const second = Math.floor(microseconds / 1_000_000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastSecondText = String(second);
  }
  const rest = microseconds - second * 1_000_000;
  return `${lastSecondText}${rest < 100_000 ? String(rest).padStart(6, "0") : rest}000`;
}
