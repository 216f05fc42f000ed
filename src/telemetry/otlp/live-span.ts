import type { TraceContext } from "../../protocol/trace-context.ts";
import { preciseNow } from "../spans/precise-now.ts";
import type { Attributes, SpanData, SpanEvent, SpanKind, SpanSink } from "../spans/span-data.ts";
import type { OpenSpan, SpanOutcome } from "../spans/span-factory.ts";

/** Events that one span holds; further ones are counted. The default of OpenTelemetry. */
const MAX_EVENTS = 128;

interface SpanStart {
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly isStoredFirst: boolean | undefined;
  readonly links: readonly TraceContext[];
}

/** A span that has not ended. It is reported at its end, and when its context is first used outside. */
export class LiveSpan implements OpenSpan {
  readonly #start: SpanStart;
  readonly #sink: SpanSink | undefined;
  readonly #began = preciseNow();
  #events: SpanEvent[] | undefined;
  #droppedEvents = 0;
  #isAnnounced = false;
  #hasEnded = false;

  /** `sink`: `undefined` if the trace is not recorded. */
  constructor(start: SpanStart, sink: SpanSink | undefined) {
    this.#start = start;
    this.#sink = sink;
  }

  /** Reading it before the end announces the span: other spans may name it as their parent from now on, also after a crash of this process. */
  get trace(): TraceContext {
    if (!this.#isAnnounced && !this.#hasEnded) {
      this.#isAnnounced = true;
      this.#sink?.began?.(this.#data(undefined, NO_CHANGE), this.#start.isStoredFirst !== true);
    }
    return this.#start.context;
  }

  event(name: string, attributes: Attributes): void {
    if (this.#sink === undefined || this.#hasEnded) return;
    this.#events ??= [];
    if (this.#events.length >= MAX_EVENTS) this.#droppedEvents += 1;
    else this.#events.push({ name, at: preciseNow(), attributes });
  }

  end(change: SpanOutcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#sink?.ended(this.#data(preciseNow(), change));
  }

  #data(end: number | undefined, change: SpanOutcome): SpanData {
    const { context, parentSpanId, kind, links } = this.#start;
    return {
      context,
      parentSpanId,
      name: change.name ?? this.#start.name,
      kind,
      start: this.#began,
      end,
      attributes:
        change.attributes === undefined ? this.#start.attributes : { ...this.#start.attributes, ...change.attributes },
      events: this.#events ?? NONE,
      droppedEvents: this.#droppedEvents,
      links,
      failed: change.failed ?? false,
    };
  }
}

const NONE: readonly never[] = [];
const NO_CHANGE: SpanOutcome = {};
