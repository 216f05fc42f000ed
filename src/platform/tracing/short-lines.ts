import { parseOwnJson } from "../../internal/own-json.ts";
import { asciiJson, attributesJson, joined, restJson, sharedJson, spanJson } from "../../telemetry/otlp/otlp-json.ts";
import type { Attributes, SharedAttributes, SpanData, SpanEvent } from "../../telemetry/spans/span-data.ts";
import { type LineWriter, numberIn, TIME_LENGTH, timeIn } from "./line-writer.ts";

// Short lines for spans, a fifth of their JSON. What many spans have in common is defined once, with a number, in a line before its first use.
// Fields have a fixed width, except the span's own attributes, each of which is the number of its key, its value and a tab.

const DEFINITION = 0x3d; // =
const BEGUN = 0x2b; // +
const ENDED = 0x2d; // -
const TAB = 0x09;
const NO_PARENT = "-".repeat(16);
const NUMBER_LENGTH = 2;
/** Numbers are used for so many things at most. */
const MAX_NUMBERS = 1000;

/** What a number stands for: the parts of spans, or of their ends, or of events, that are equal; or the key of an attribute. */
interface Definition {
  readonly name: string;
  readonly kind?: SpanData["kind"];
  readonly flags?: number;
  readonly failed?: boolean;
  /** JSON of the shared attributes. */
  readonly shared?: string;
}

interface Known extends Definition {
  readonly number: number;
}

/** Writes short lines. A span that does not fit gets none, and neither does the first of its kind, for which the kind is defined. */
export class ShortLines {
  readonly #into: LineWriter;
  readonly #known = new Map<SharedAttributes | string, Known>();

  constructor(into: LineWriter) {
    this.#into = into;
  }

  /** The lines so far do not count any more. */
  clear(): void {
    this.#known.clear();
  }

  /** Writes the beginning of a span; false if it gets no short line. */
  begun(span: SpanData): boolean {
    const { context, parentSpanId = NO_PARENT, name, kind, start, shared, attributes, links } = span;
    const { traceId, spanId, flags } = context;
    if (shared === undefined || context.state !== undefined || links.length > 0) return false;
    if (traceId.length !== 32 || spanId.length !== 16 || parentSpanId.length !== 16) return false;
    const known = this.#known.get(shared);
    if (known === undefined) return this.#define(shared, { name, kind, flags, shared: sharedJson(shared) });
    if (known.name !== name || known.kind !== kind || known.flags !== flags) return false;
    const into = this.#into;
    const { length } = into;
    into.writeCode(BEGUN);
    into.writePlain(traceId);
    into.writePlain(spanId);
    into.writePlain(parentSpanId);
    into.time(start);
    into.writeNumber(known.number, NUMBER_LENGTH);
    return this.#finish(attributes, length);
  }

  /** Writes the end of a span whose beginning has a line; false if it gets no short line. */
  ended(span: SpanData): boolean {
    const { context, name, end, endShared, endAttributes, events, droppedEvents, failed } = span;
    if (end === undefined || endShared === undefined || droppedEvents > 0) return false;
    const known = this.#known.get(endShared);
    if (known === undefined) return this.#define(endShared, { name, failed, shared: sharedJson(endShared) });
    if (known.name !== name || known.failed !== failed) return false;
    const into = this.#into;
    const { length } = into;
    into.writeCode(ENDED);
    into.writePlain(context.spanId);
    into.time(end);
    into.writeNumber(known.number, NUMBER_LENGTH);
    into.writeNumber(events.length, NUMBER_LENGTH);
    for (const event of events) {
      const defined = this.#known.get(event.attributes);
      if (defined?.name !== event.name) {
        into.cutTo(length);
        if (defined === undefined) this.#defineEvent(event);
        return false;
      }
      into.time(event.at);
      into.writeNumber(defined.number, NUMBER_LENGTH);
    }
    return this.#finish(endAttributes, length);
  }

  #finish(attributes: Attributes | undefined, start: number): boolean {
    const into = this.#into;
    for (const key in attributes) {
      const value = attributes[key];
      if (value === undefined) continue;
      const known = this.#known.get(key);
      if (known !== undefined) into.writeNumber(known.number, NUMBER_LENGTH);
      if (known === undefined || typeof value !== "string" || !into.writePlain(value)) {
        into.cutTo(start);
        return known === undefined && this.#define(key, { name: key });
      }
      into.writeCode(TAB);
    }
    into.end();
    return true;
  }

  #defineEvent({ name, attributes }: SpanEvent): void {
    this.#define(attributes, { name, shared: sharedJson(attributes) });
  }

  /** Always false: it writes no span. */
  #define(key: SharedAttributes | string, definition: Definition): false {
    const number = this.#known.size;
    if (number >= MAX_NUMBERS) return false;
    this.#known.set(key, { ...definition, number });
    this.#into.writeCode(DEFINITION);
    this.#into.line(asciiJson(definition));
    return false;
  }
}

/** Makes the JSON of spans from lines, in their order. */
export class ShortLineReader {
  readonly #definitions: Definition[] = [];

  /** The span of a line as JSON; another line as it is. `begunJson`: the span with this id at its beginning. */
  json(line: string, begunJson: (spanId: string) => string | undefined): string {
    const code = line.charCodeAt(0);
    if (code === BEGUN) return this.#begun(new Fields(line));
    if (code === ENDED) return this.#ended(new Fields(line), begunJson);
    if (code === DEFINITION) this.#definitions.push(parseOwnJson<Definition>(line.slice(1)));
    return line;
  }

  #begun(fields: Fields): string {
    const traceId = fields.next(32);
    const spanId = fields.next(16);
    const parentSpanId = fields.next(16);
    const start = timeIn(fields.next(TIME_LENGTH));
    const { name, kind = "internal", flags = 0, shared = "" } = this.#definitionOf(fields);
    return spanJson({
      context: { traceId, spanId, flags },
      parentSpanId: parentSpanId === NO_PARENT ? undefined : parentSpanId,
      ...{ name, kind, start, end: undefined, shared: { values: {}, json: shared } },
      ...{ attributes: this.#attributes(fields), events: [], droppedEvents: 0, links: [], failed: false },
    });
  }

  #ended(fields: Fields, begunJson: (spanId: string) => string | undefined): string {
    const spanId = fields.next(16);
    const end = timeIn(fields.next(TIME_LENGTH));
    const { name, failed = false, shared = "" } = this.#definitionOf(fields);
    const count = numberIn(fields.next(NUMBER_LENGTH));
    const events = Array.from({ length: count }, (): SpanEvent => {
      const at = timeIn(fields.next(TIME_LENGTH));
      const event = this.#definitionOf(fields);
      return { name: event.name, at, attributes: { values: {}, json: event.shared } };
    });
    const begun = begunJson(spanId) ?? "";
    // Quotes inside of values are escaped, so only the end of the attributes looks like this.
    const head = begun.slice(0, begun.indexOf('],"name":'));
    const added = joined(shared, attributesJson(this.#attributes(fields)));
    const comma = added === "" || head.endsWith("[") ? "" : ",";
    return head + comma + added + restJson({ name, end, events, droppedEvents: 0, failed });
  }

  #definitionOf(fields: Fields): Definition {
    return this.#definitions[numberIn(fields.next(NUMBER_LENGTH))] ?? UNKNOWN;
  }

  #attributes(fields: Fields): Attributes {
    const attributes: Record<string, string> = {};
    while (!fields.isAtEnd) {
      const { name } = this.#definitionOf(fields);
      attributes[name] = fields.upToTab();
    }
    return attributes;
  }
}

const UNKNOWN: Definition = { name: "" };

/** The fields of a line, after its first character. */
class Fields {
  readonly #line: string;
  #at = 1;

  constructor(line: string) {
    this.#line = line;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#line.length;
  }

  next(length: number): string {
    this.#at += length;
    return this.#line.slice(this.#at - length, this.#at);
  }

  upToTab(): string {
    const tab = this.#line.indexOf("\t", this.#at);
    return this.next((tab < 0 ? this.#line.length : tab) - this.#at + 1).slice(0, -1);
  }
}
