import type { Attributes, AttributeValue, SharedAttributes, SpanData, SpanEvent } from "../spans/span-data.ts";
import { firstDigits, lastDigits, microsecondsOf } from "./time-digits.ts";

/** Names and values that describe the process that writes the spans. */
export type Resource = Readonly<Record<string, string>>;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR_STATUS = 2;

/**
 * A span as a JSON text of OTLP (opentelemetry-proto, `trace.proto`), in ASCII. Without an end if it has not ended. It is put together from few pieces, because
 * V8 goes through each piece when the text is written.
 */
export function spanJson(span: SpanData): string {
  const { context, parentSpanId, kind, start, shared, attributes, links } = span;
  const { traceId, spanId, flags } = context;
  let text = TRACE_ID + traceId;
  text += SPAN_ID + spanId;
  if (parentSpanId !== undefined) text += PARENT_SPAN_ID + parentSpanId;
  text += flags === 1 ? RECORDED[kind] : flagsJson(flags, kind);
  text += nanoseconds(start);
  if (context.state !== undefined) text += `,"traceState":${quoted(context.state)}`;
  if (links.length > 0) {
    text += `,"links":[${links.map(({ traceId, spanId }) => `{"traceId":"${traceId}","spanId":"${spanId}"}`).join()}]`;
  }
  text += ATTRIBUTES;
  const { length } = text;
  if (shared !== undefined) text += sharedJson(shared);
  text = withAttributes(text, text.length > length, attributes);
  const { endShared, endAttributes } = span;
  if (endShared !== undefined) text += text.length > length ? nextSharedJson(endShared) : sharedJson(endShared);
  if (endAttributes !== undefined) text = withAttributes(text, text.length > length, endAttributes);
  return text + restJson(span);
}

// A template would convert each of its values, which costs as much as joining them.
const TRACE_ID = '{"traceId":"';
const SPAN_ID = '","spanId":"';
const PARENT_SPAN_ID = '","parentSpanId":"';
const ATTRIBUTES = ',"attributes":[';

/** Up to the time of the start. */
function flagsJson(flags: number, kind: SpanData["kind"]): string {
  return `","flags":${flags},"kind":${KINDS[kind]},"startTimeUnixNano":`;
}

const RECORDED = {
  internal: flagsJson(1, "internal"),
  server: flagsJson(1, "server"),
  client: flagsJson(1, "client"),
} as const;

export type SpanRest = Pick<SpanData, "name" | "end" | "events" | "droppedEvents" | "failed">;

/** What follows the attributes. */
export function restJson({ name, end, events, droppedEvents, failed }: SpanRest): string {
  let text = end === undefined ? nameJson(name).withoutEnd : nameJson(name).withEnd + nanoseconds(end);
  if (events.length > 0) text += eventsJson(events);
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
    text += text === "" ? EVENTS_START : NEXT_EVENT;
    text += nanoseconds(at);
    text += eventRestJson(name, attributes);
  }
  return `${text}]`;
}

const EVENTS_START = ',"events":[{"timeUnixNano":';
const NEXT_EVENT = ',{"timeUnixNano":';

/** What follows the time of an event. */
function eventRestJson(name: string, attributes: SharedAttributes): string {
  const known = EVENTS.get(attributes);
  if (known?.name === name) return known.json;
  const json = inOnePiece(`,"name":${quoted(name)},"attributes":[${sharedJson(attributes)}]}`);
  EVENTS.set(attributes, { name, json });
  return json;
}

const EVENTS = new WeakMap<SharedAttributes, { readonly name: string; readonly json: string }>();

interface NameJson {
  readonly withoutEnd: string;
  readonly withEnd: string;
}

/** Names of spans whose text is kept. */
const NAMES = new Map<string, NameJson>();
const MAX_NAMES = 256;

/** The name of a span, after the end of its attributes; for a span with an end, up to its time. */
function nameJson(name: string): NameJson {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const text = `],"name":${quoted(name)}`;
  const made = { withoutEnd: inOnePiece(text), withEnd: inOnePiece(`${text},"endTimeUnixNano":`) };
  if (NAMES.size < MAX_NAMES) NAMES.set(name, made);
  return made;
}

/** Two lists of attributes as one. */
export function joined(one: string, other: string): string {
  return one === "" || other === "" ? one + other : `${one},${other}`;
}

export function sharedJson(shared: SharedAttributes): string {
  shared.json ??= inOnePiece(attributesJson(shared.values));
  return shared.json;
}

/** The same after another attribute. */
export function nextSharedJson(shared: SharedAttributes): string {
  const known = NEXT.get(shared);
  if (known !== undefined) return known;
  const json = sharedJson(shared);
  const next = json === "" ? "" : inOnePiece(`,${json}`);
  NEXT.set(shared, next);
  return next;
}

const NEXT = new WeakMap<SharedAttributes, string>();

/** The same text, stored in one piece. A text that was put together is a tree of its parts, which each use of it would go through. */
function inOnePiece(text: string): string {
  // V8 joins the parts for this.
  PLAIN.test(text);
  return text;
}

export function attributesJson(attributes: Attributes): string {
  return withAttributes("", false, attributes);
}

/** `isNext`: the text ends with an attribute. */
function withAttributes(before: string, isNext: boolean, attributes: Attributes): string {
  let text = before;
  let comma = isNext;
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    const start = startsOf(key);
    if (typeof value === "string" && PLAIN.test(value)) {
      text += comma ? start.nextText : start.firstText;
      text += value;
      text += TEXT_END;
    } else {
      text += comma ? start.next : start.first;
      text += valueJson(value);
    }
    comma = true;
  }
  return text;
}

const TEXT_END = '"}}';

/** Beginnings of an attribute, up to its value; `Text`: up to a value that is a text. `next`: after another attribute. */
interface Starts {
  readonly first: string;
  readonly next: string;
  readonly firstText: string;
  readonly nextText: string;
}

/** The beginnings of attributes: their names are few. */
const STARTS = new Map<string, Starts>();
const MAX_STARTS = 256;

function startsOf(key: string): Starts {
  const known = STARTS.get(key);
  if (known !== undefined) return known;
  const first = inOnePiece(`{"key":${asciiJson(key)},"value":`);
  const firstText = inOnePiece(`${first}{"stringValue":"`);
  const starts = { first, next: inOnePiece(`,${first}`), firstText, nextText: inOnePiece(`,${firstText}`) };
  if (STARTS.size < MAX_STARTS) STARTS.set(key, starts);
  return starts;
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
  return PLAIN.test(text) ? `"${text}"` : asciiJson(text);
}

/** As `JSON.stringify`, with escapes for everything but ASCII. */
export function asciiJson(value: string | object): string {
  return JSON.stringify(value).replaceAll(NOT_ASCII, escaped);
}

const NOT_ASCII = /[\u0080-\uffff]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A quoted time from milliseconds, exact to the microsecond. */
function nanoseconds(time: number): string {
  const microseconds = microsecondsOf(time);
  return `"${firstDigits(microseconds)}${lastDigits(microseconds)}"`;
}
