import type { Attributes, SharedAttributes, SpanData } from "../spans/span-data.ts";
import { asciiJson, nextSharedJson, sharedJson, spanJson } from "./otlp-json.ts";
import type { TextBytes } from "./text-bytes.ts";
import { firstDigits, lastDigits, microsecondsOf } from "./time-digits.ts";

const encoder = new TextEncoder();

const TRACE_ID = encoder.encode('{"traceId":"');
const SPAN_ID = encoder.encode('","spanId":"');
const PARENT_SPAN_ID = encoder.encode('","parentSpanId":"');
const KINDS = {
  internal: encoder.encode('","flags":1,"kind":1,"startTimeUnixNano":"'),
  server: encoder.encode('","flags":1,"kind":2,"startTimeUnixNano":"'),
  client: encoder.encode('","flags":1,"kind":3,"startTimeUnixNano":"'),
} as const;
const TEXT_END = encoder.encode('"}}');
const EVENTS = encoder.encode('","events":[{"timeUnixNano":"');
const NEXT_EVENT = encoder.encode(',{"timeUnixNano":"');
const EVENTS_END = encoder.encode("]}");
const END = encoder.encode('"}');

/** Writes the JSON of a span that has ended, as {@link spanJson}: most spans from prepared bytes, without making texts. */
export function writeSpan(into: TextBytes, span: SpanData): void {
  const { length } = into;
  if (writePrepared(into, span)) return;
  into.cutTo(length);
  into.write(spanJson(span));
}

/** False if the span is not like most; then a part of it may have been written. */
function writePrepared(into: TextBytes, span: SpanData): boolean {
  const { context, parentSpanId, kind, start, shared, attributes, links } = span;
  const { name, end, endShared, endAttributes, events, droppedEvents, failed } = span;
  if (context.flags !== 1 || context.state !== undefined || links.length > 0 || failed || droppedEvents > 0)
    return false;
  if (shared === undefined || sharedJson(shared) === "" || endShared === undefined || end === undefined) return false;
  into.writeBytes(TRACE_ID);
  into.writePlain(context.traceId);
  into.writeBytes(SPAN_ID);
  into.writePlain(context.spanId);
  if (parentSpanId !== undefined) {
    into.writeBytes(PARENT_SPAN_ID);
    into.writePlain(parentSpanId);
  }
  into.writeBytes(KINDS[kind]);
  writeTime(into, start);
  into.writeBytes(headOf(shared));
  if (!writeAttributes(into, attributes)) return false;
  into.writeBytes(nextOf(endShared));
  if (endAttributes !== undefined && !writeAttributes(into, endAttributes)) return false;
  into.writeBytes(tailOf(endShared, name));
  writeTime(into, end);
  let before = EVENTS;
  for (const event of events) {
    into.writeBytes(before);
    writeTime(into, event.at);
    into.writeBytes(eventRestOf(event.attributes, event.name));
    before = NEXT_EVENT;
  }
  into.writeBytes(before === EVENTS ? END : EVENTS_END);
  return true;
}

function writeTime(into: TextBytes, time: number): void {
  const microseconds = microsecondsOf(time);
  into.writePlain(firstDigits(microseconds));
  into.writePlain(lastDigits(microseconds));
}

/** The attributes follow others. False if one is no plain text. */
function writeAttributes(into: TextBytes, attributes: Attributes): boolean {
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    if (typeof value !== "string") return false;
    into.writeBytes(keyOf(key));
    if (!into.writePlain(value)) return false;
    into.writeBytes(TEXT_END);
  }
  return true;
}

const HEADS = new WeakMap<SharedAttributes, Uint8Array>();
const NEXTS = new WeakMap<SharedAttributes, Uint8Array>();
const TAILS = new WeakMap<SharedAttributes, NamedBytes>();
const EVENT_RESTS = new WeakMap<SharedAttributes, NamedBytes>();
const KEYS = new Map<string, Uint8Array>();
const MAX_KEYS = 256;

/** Bytes that contain a name, besides attributes. */
interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function headOf(shared: SharedAttributes): Uint8Array {
  return HEADS.get(shared) ?? kept(HEADS, shared, encoder.encode(`","attributes":[${sharedJson(shared)}`));
}

function nextOf(shared: SharedAttributes): Uint8Array {
  return NEXTS.get(shared) ?? kept(NEXTS, shared, encoder.encode(nextSharedJson(shared)));
}

/** From the name to the time of the end. */
function tailOf(shared: SharedAttributes, name: string): Uint8Array {
  const known = TAILS.get(shared);
  if (known?.name === name) return known.bytes;
  return kept(TAILS, shared, { name, bytes: encoder.encode(`],"name":${asciiJson(name)},"endTimeUnixNano":"`) }).bytes;
}

function eventRestOf(shared: SharedAttributes, name: string): Uint8Array {
  const known = EVENT_RESTS.get(shared);
  if (known?.name === name) return known.bytes;
  const bytes = encoder.encode(`","name":${asciiJson(name)},"attributes":[${sharedJson(shared)}]}`);
  return kept(EVENT_RESTS, shared, { name, bytes }).bytes;
}

function keyOf(key: string): Uint8Array {
  const known = KEYS.get(key);
  if (known !== undefined) return known;
  const bytes = encoder.encode(`,{"key":${asciiJson(key)},"value":{"stringValue":"`);
  if (KEYS.size < MAX_KEYS) KEYS.set(key, bytes);
  return bytes;
}

function kept<Value>(known: WeakMap<SharedAttributes, Value>, shared: SharedAttributes, value: Value): Value {
  known.set(shared, value);
  return value;
}
