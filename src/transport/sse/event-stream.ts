import type { A2AError } from "../../protocol/error.ts";
import type { StreamBatch, TaskStream } from "../../server/task-stream.ts";
import type { Codec, EventPlace } from "../../wire/codec.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { PullSource } from "../exchange.ts";
import { placeOf } from "../streams/event-place.ts";
import { type Framing, TaskSource, type TaskSourceOptions } from "../streams/task-source.ts";
import type { TextEnvelope } from "../text/text-envelope.ts";
import { openingFrames } from "./opening.ts";

export interface EventStreamOptions {
  readonly stream: TaskStream;
  readonly codec: Codec;
  readonly envelope: TextEnvelope;
  /** Frames have an `event:` line, if the dialect names its events. */
  readonly namesEvents?: boolean;
  /** Sends a long opening, whose memory is counted. Throws `unavailable` if the longer answers hold too much memory. */
  readonly openAnswer: (opening: string | AsyncGenerator<string>) => PullSource<string>;
  readonly ended: TaskSourceOptions<string>["ended"];
}

/** Approximate characters per piece; a single event may be longer. */
const CHUNK_LENGTH = 65_536;
const HEARTBEAT = ": \n\n";
/** Asks the reader to reconnect after 1 s. */
const RECONNECT = "retry: 1000\n\n";

/** The frame that ends a failed stream. `text`: the error as JSON. */
export function errorFrame(text: string): string {
  return `event: error\ndata: ${text}\n\n`;
}

/** A task's stream as Server-Sent Events. */
export class EventStream extends TaskSource<string> {
  constructor({ stream, codec, envelope, namesEvents = false, openAnswer, ended }: EventStreamOptions) {
    const place = placeOf(stream, codec);
    const opening = openingFrames(stream, { codec, envelope, namesEvents, place });
    const isShort = typeof opening === "string" && opening.length < COUNTED_BYTES;
    super({
      events: stream.events,
      opening: isShort ? opening : openAnswer(opening),
      framing: new SseFraming({ codec, envelope, namesEvents, place }),
      ended,
    });
  }
}

interface SseFramingOptions extends Required<Pick<EventStreamOptions, "codec" | "envelope" | "namesEvents">> {
  /** `undefined`: the stream has no events. */
  readonly place: EventPlace | undefined;
}

class SseFraming implements Framing<string> {
  readonly #options: SseFramingOptions;

  constructor(options: SseFramingOptions) {
    this.#options = options;
  }

  get heartbeat(): string {
    return HEARTBEAT;
  }

  reconnect(): string {
    return RECONNECT;
  }

  failure(error: A2AError): string {
    const { envelope, codec } = this.#options;
    return errorFrame(envelope.error(codec.encodeError(error)));
  }

  frames(batch: StreamBatch, from: number): { readonly piece: string; readonly next: number } {
    const { entries } = batch;
    const { codec, envelope, namesEvents, place } = this.#options;
    if (place === undefined) throw new Error("A stream of one message has no events.");
    let piece = "";
    let next = from;
    while (next < entries.length && piece.length < CHUNK_LENGTH) {
      const entry = entries[next];
      next += 1;
      if (entry === undefined) continue;
      const final = batch.last && next === entries.length;
      const event = codec.encodeEvent(entry, final ? { ...place, final } : place);
      const name = namesEvents ? codec.eventName?.(entry) : undefined;
      piece += `id: ${entry.seq}\n${name === undefined ? "" : `event: ${name}\n`}data: ${envelope.result(event)}\n\n`;
    }
    return { piece, next };
  }
}
