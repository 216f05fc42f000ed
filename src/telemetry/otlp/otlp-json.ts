import type { Attributes, AttributeValue, SpanData, SpanEvent } from "../spans/span-data.ts";

/** Names and values that describe the process that writes the spans. */
export type Resource = Readonly<Record<string, string>>;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR_STATUS = 2;

/**
 * A span as a JSON text of OTLP (opentelemetry-proto, `trace.proto`), in two parts, in ASCII. The head is what is known at the beginning, so that it is put
 * together once for a span that is kept at its beginning and sent at its end. It stops inside the list of attributes.
 */
export interface SpanText {
  readonly spanId: string;
  readonly head: string;
  /** Without an end if the span has not ended. */
  readonly tail: string;
  /** Where a spool keeps the span until it ends; -1: nowhere. Only the spool uses it. */
  place: number;
}

export function spanText(span: SpanData): SpanText {
  return { spanId: span.context.spanId, head: spanHead(span), tail: spanTail(span), place: -1 };
}

export function spanHead({ context, parentSpanId, kind, start, attributes, links }: SpanData): string {
  let text = `{"traceId":"${context.traceId}","spanId":"${context.spanId}`;
  if (parentSpanId !== undefined) text += `","parentSpanId":"${parentSpanId}`;
  text += `","flags":${context.flags},"kind":${KINDS[kind]},"startTimeUnixNano":"${nanoseconds(start)}"`;
  if (context.state !== undefined) text += `,"traceState":${quoted(context.state)}`;
  if (links.length > 0) {
    text += `,"links":[${links.map(({ traceId, spanId }) => `{"traceId":"${traceId}","spanId":"${spanId}"}`).join()}]`;
  }
  return `${text},"attributes":[${attributesJson(attributes)}`;
}

export function spanTail({ name, end, attributes, endAttributes, events, droppedEvents, failed }: SpanData): string {
  let text = endAttributes === undefined ? "" : attributesJson(endAttributes);
  if (text !== "" && hasAny(attributes)) text = `,${text}`;
  text += `],"name":${quoted(name)}`;
  if (end !== undefined) text += `,"endTimeUnixNano":"${nanoseconds(end)}"`;
  if (events.length > 0) text += `,"events":[${eventsJson(events)}]`;
  if (droppedEvents > 0) text += `,"droppedEventsCount":${droppedEvents}`;
  return failed ? `${text},"status":{"code":${ERROR_STATUS}}}` : `${text}}`;
}

/** The body of a request to `/v1/traces` is this, the spans with commas between them, and `REQUEST_END`. */
export function requestStart(resource: Resource): string {
  return `{"resourceSpans":[{"resource":{"attributes":[${attributesJson(resource)}]},"scopeSpans":[{"scope":{"name":"palaver"},"spans":[`;
}
export const REQUEST_END = "]}]}]}";

function eventsJson(events: readonly SpanEvent[]): string {
  let text = "";
  for (const { name, at, attributes } of events) {
    if (text !== "") text += ",";
    text += `{"timeUnixNano":"${nanoseconds(at)}","name":${quoted(name)},"attributes":[${attributesJson(attributes)}]}`;
  }
  return text;
}

function hasAny(attributes: Attributes): boolean {
  for (const key in attributes) if (attributes[key] !== undefined) return true;
  return false;
}

function attributesJson(attributes: Attributes): string {
  let text = "";
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    if (text !== "") text += ",";
    text += attributeJson(key, value);
  }
  return text;
}

/** The last text of an attribute. Most have the same value again and again: the agent, the version, the number of the attempt. */
interface LastAttribute {
  readonly key: string;
  value: AttributeValue | undefined;
  text: string;
}

/** The names of attributes are few. */
const ATTRIBUTES = new Map<string, LastAttribute>();
const MAX_ATTRIBUTES = 256;
/** Longer values are not kept. */
const MAX_KEPT = 100;

function attributeJson(key: string, value: AttributeValue): string {
  let last = ATTRIBUTES.get(key);
  if (last === undefined) {
    last = { key: `{"key":${JSON.stringify(key)},"value":`, value: undefined, text: "" };
    if (ATTRIBUTES.size < MAX_ATTRIBUTES) ATTRIBUTES.set(key, last);
  }
  if (last.value === value) return last.text;
  const text = last.key + valueJson(value);
  if (typeof value !== "object" && text.length <= MAX_KEPT + last.key.length) {
    last.value = value;
    last.text = text;
  }
  return text;
}

/** With the bracket that closes the attribute. 64-bit numbers are strings in the JSON of protobuf. */
function valueJson(value: AttributeValue): string {
  if (typeof value === "string") return `{"stringValue":${quoted(value)}}}`;
  if (typeof value === "object") {
    return `{"arrayValue":{"values":[${value.map((each) => `{"stringValue":${quoted(each)}}`).join()}]}}}`;
  }
  if (typeof value === "boolean") return `{"boolValue":${value}}}`;
  return Number.isInteger(value) ? `{"intValue":"${value}"}}` : `{"doubleValue":${value}}}`;
}

/** Printable ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** As `JSON.stringify`, which is slower for short texts; with escapes for everything but ASCII. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text).replaceAll(NOT_ASCII, escaped);
}

const NOT_ASCII = /[\u0080-\uffff]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
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
