import type { Attributes, AttributeValue, SharedAttributes, SpanData, SpanEvent } from "../spans/span-data.ts";

/** Names and values that describe the process that writes the spans. */
export type Resource = Readonly<Record<string, string>>;

const KINDS = { internal: kindJson(1), server: kindJson(2), client: kindJson(3) } as const;
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

export function spanHead({ context, parentSpanId, kind, start, shared, attributes, links }: SpanData): string {
  let text = `{"traceId":"${context.traceId}","spanId":"${context.spanId}`;
  if (parentSpanId !== undefined) text += `","parentSpanId":"${parentSpanId}`;
  text += (context.flags === 1 ? RECORDED : `","flags":${context.flags}`) + KINDS[kind] + nanoseconds(start);
  if (context.state !== undefined) text += `,"traceState":${quoted(context.state)}`;
  if (links.length > 0) {
    text += `,"links":[${links.map(({ traceId, spanId }) => `{"traceId":"${traceId}","spanId":"${spanId}"}`).join()}]`;
  }
  return `${text},"attributes":[${joined(shared === undefined ? "" : sharedJson(shared), attributesJson(attributes))}`;
}

const RECORDED = '","flags":1';

/** Up to the time of the start. Texts of few pieces cost less. */
function kindJson(kind: number): string {
  return `,"kind":${kind},"startTimeUnixNano":`;
}

export function spanTail(span: SpanData): string {
  const { name, end, shared, attributes, endShared, endAttributes, events, droppedEvents, failed } = span;
  let text = endShared === undefined ? "" : sharedJson(endShared);
  if (endAttributes !== undefined) text = joined(text, attributesJson(endAttributes));
  if (text !== "" && ((shared !== undefined && sharedJson(shared) !== "") || hasAny(attributes))) text = `,${text}`;
  text += nameJson(name);
  if (end !== undefined) text += `,"endTimeUnixNano":${nanoseconds(end)}`;
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
    text += `{"timeUnixNano":${nanoseconds(at)}${eventNameJson(name)}${sharedJson(attributes)}]}`;
  }
  return text;
}

let lastEvent = "";
let lastEventText = "";

/** The names of events are few. */
function eventNameJson(name: string): string {
  if (name === lastEvent) return lastEventText;
  lastEvent = name;
  lastEventText = `,"name":${quoted(name)},"attributes":[`;
  return lastEventText;
}

/** Names of spans whose text is kept. */
const NAMES = new Map<string, string>();
const MAX_NAMES = 256;

/** The name of a span, after the end of its attributes. */
function nameJson(name: string): string {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const text = inOnePiece(`],"name":${quoted(name)}`);
  if (NAMES.size < MAX_NAMES) NAMES.set(name, text);
  return text;
}

function joined(one: string, other: string): string {
  return one === "" || other === "" ? one + other : `${one},${other}`;
}

function sharedJson(shared: SharedAttributes): string {
  shared.json ??= inOnePiece(attributesJson(shared.values));
  return shared.json;
}

/** The same text, stored in one piece. A text that was put together is a tree of its parts, which each use of it would go through. */
function inOnePiece(text: string): string {
  // V8 joins the parts for this.
  PLAIN.test(text);
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

/** The beginnings of attributes: their names are few. */
const KEYS = new Map<string, string>();
const MAX_KEYS = 256;

function attributeJson(key: string, value: AttributeValue): string {
  let start = KEYS.get(key);
  if (start === undefined) {
    start = inOnePiece(`{"key":${JSON.stringify(key)},"value":`);
    if (KEYS.size < MAX_KEYS) KEYS.set(key, start);
  }
  return start + valueJson(value);
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

let lastTime = Number.NaN;
let lastTimeText = "";

/** The last six digits of nanoseconds and a quote, by microsecond. */
const MICROSECONDS: readonly string[] = Array.from(
  { length: 1000 },
  (_, micros) => `${String(micros).padStart(3, "0")}000"`,
);

/**
 * A quoted time from milliseconds, exact to the microsecond: a double cannot hold nanoseconds. Many times that are written together are of the same
 * millisecond, whose text is kept, because large numbers are slow to convert.
 */
function nanoseconds(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  const whole = Math.floor(microseconds / 1000);
  if (whole !== lastTime) {
    lastTime = whole;
    lastTimeText = `"${whole}`;
  }
  return lastTimeText + MICROSECONDS[microseconds - whole * 1000];
}
