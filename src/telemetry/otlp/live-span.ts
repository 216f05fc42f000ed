import type { TraceContext } from "../../protocol/trace-context.ts";
import { preciseNow } from "../spans/precise-now.ts";
import type { Attributes, SharedAttributes, SpanData, SpanEvent, SpanKind } from "../spans/span-data.ts";
import type { NewSpan, OpenSpan, SpanOutcome } from "../spans/span-factory.ts";
import type { ReportedSpan, SpanSink } from "./span-sink.ts";

/** Events that one span holds; further ones are counted. The default of OpenTelemetry. */
const MAX_EVENTS = 128;

/** The place of a span in its trace. */
type SpanPlace = Pick<SpanData, "context" | "parentSpanId">;

/** A span that has not ended. It is reported at its end, and when its context is first used outside. */
export class LiveSpan implements OpenSpan, ReportedSpan {
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  name: string;
  readonly kind: SpanKind;
  readonly start: number = preciseNow();
  end: number | undefined = undefined;
  readonly shared: SharedAttributes | undefined;
  readonly attributes: Attributes;
  endShared: SharedAttributes | undefined = undefined;
  endAttributes: Attributes | undefined = undefined;
  #events: SpanEvent[] | undefined;
  droppedEvents = 0;
  readonly links: readonly TraceContext[];
  failed = false;
  readonly #sink: SpanSink | undefined;
  readonly #isStoredFirst: boolean;
  #isAnnounced = false;
  place = -1;
  isWritten = false;

  /** `sink`: `undefined` if the trace is not recorded. */
  constructor(span: NewSpan, { context, parentSpanId }: SpanPlace, sink: SpanSink | undefined) {
    this.context = context;
    this.parentSpanId = parentSpanId;
    this.name = span.name;
    this.kind = span.kind;
    this.shared = span.shared;
    this.attributes = span.attributes ?? NO_ATTRIBUTES;
    this.links = span.continues === undefined ? NONE : [span.continues];
    this.#sink = sink;
    this.#isStoredFirst = span.isStoredFirst === true;
  }

  /** Reading it before the end announces the span: other spans may name it as their parent from now on, also after a crash of this process. */
  get trace(): TraceContext {
    if (!this.#isAnnounced && this.end === undefined) {
      this.#isAnnounced = true;
      this.#sink?.began?.(this, !this.#isStoredFirst);
    }
    return this.context;
  }

  get events(): readonly SpanEvent[] {
    return this.#events ?? NONE;
  }

  addEvent(name: string, attributes: SharedAttributes): void {
    if (this.#sink === undefined || this.end !== undefined) return;
    this.#events ??= [];
    if (this.#events.length >= MAX_EVENTS) this.droppedEvents += 1;
    else this.#events.push({ name, at: preciseNow(), attributes });
  }

  finish({ name, shared, attributes, failed = false }: SpanOutcome): void {
    if (this.end !== undefined) return;
    this.end = preciseNow();
    if (name !== undefined) this.name = name;
    this.endShared = shared;
    this.endAttributes = attributes;
    this.failed = failed;
    this.#sink?.ended(this);
  }
}

const NONE: readonly never[] = [];
const NO_ATTRIBUTES: Attributes = {};
