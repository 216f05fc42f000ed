import { type A2AError, toA2AError } from "../../protocol/error.ts";
import type { StreamBatch, StreamEvents, TaskStream } from "../../server/task-stream.ts";
import type { Codec, EventPlace } from "../../wire/codec.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { PullSource } from "../exchange.ts";
import type { OpenStream } from "../streams/stream-registry.ts";
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
  /** Called once, when nothing more will be sent; with an error if the stream failed. */
  readonly ended: (source: EventStream, error: A2AError | undefined) => void;
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

/**
 * A task's stream as Server-Sent Events. It holds at most one batch and reads the next only when its reader has taken all of it: a slow
 * reader costs a cursor, not a queue. Thousands of streams may be idle, so each keeps few objects.
 */
export class EventStream implements PullSource<string>, OpenStream {
  readonly #events: StreamEvents | undefined;
  readonly #place: EventPlace | undefined;
  readonly #codec: Codec;
  readonly #envelope: TextEnvelope;
  readonly #namesEvents: boolean;
  readonly #ended: EventStreamOptions["ended"];
  /** Text to be sent before the batch. */
  #ready: string | undefined;
  /** A long opening, sent before `#ready`. */
  #opening: PullSource<string> | undefined;
  #batch: StreamBatch | undefined;
  #sent = 0;
  #reading = false;
  #done = false;
  #reader: ((chunk: string | undefined) => void) | undefined;

  constructor({ stream, codec, envelope, namesEvents = false, openAnswer, ended }: EventStreamOptions) {
    this.#events = stream.events;
    this.#codec = codec;
    this.#envelope = envelope;
    this.#ended = ended;
    this.#namesEvents = namesEvents;
    this.#place = placeOf(stream, codec);
    const opening = openingFrames(stream, { codec, envelope, namesEvents, place: this.#place });
    if (typeof opening === "string" && opening.length < COUNTED_BYTES) this.#ready = opening;
    else this.#opening = openAnswer(opening);
  }

  connected(disconnect: () => void): void {
    this.#opening?.connected?.(disconnect);
  }

  pull(): string | undefined | Promise<string | undefined> {
    if (this.#opening !== undefined) return this.#pullOpening(this.#opening);
    const ready = this.#ready ?? (this.#batch === undefined ? undefined : this.#frames(this.#batch));
    if (ready !== undefined) {
      if (this.#ready !== undefined) {
        this.#ready = undefined;
        if (this.#events === undefined) this.#finish(undefined);
      }
      return ready;
    }
    if (this.#done) return undefined;
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#read();
    });
  }

  async #pullOpening(opening: PullSource<string>): Promise<string | undefined> {
    try {
      const text = await opening.pull();
      if (text !== undefined || this.#done) return text;
    } catch (thrown) {
      this.#finish(toA2AError(thrown));
      throw thrown;
    }
    this.#opening = undefined;
    if (this.#events === undefined) this.#finish(undefined);
    return this.pull();
  }

  cancel(): void {
    this.#opening?.cancel();
    this.#opening = undefined;
    this.#ready = undefined;
    this.#batch = undefined;
    this.#finish(undefined);
    this.#deliver();
  }

  /** Ends the stream and asks the reader to reconnect. Events that were already read are still sent. */
  shutdown(): void {
    this.#events?.close();
  }

  /** Sends a comment to an idle reader, so that the connection is not closed as inactive. */
  heartbeat(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    reader(HEARTBEAT);
  }

  #read(): void {
    if (this.#reading || this.#events === undefined) return;
    this.#reading = true;
    this.#events.next().then(
      (batch) => this.#arrived(batch),
      (thrown: unknown) => this.#failed(toA2AError(thrown)),
    );
  }

  #arrived(batch: StreamBatch | undefined): void {
    this.#reading = false;
    if (this.#done) return;
    if (batch === undefined) {
      this.#ready = RECONNECT;
      this.#finish(undefined);
    } else {
      this.#batch = batch;
    }
    this.#deliver();
  }

  #failed(error: A2AError): void {
    this.#reading = false;
    if (this.#done) return;
    this.#ready = errorFrame(this.#envelope.error(this.#codec.encodeError(error)));
    this.#finish(error);
    this.#deliver();
  }

  #deliver(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    const chunk = this.pull();
    // A promise would mean that nothing is ready.
    reader(chunk instanceof Promise ? undefined : chunk);
  }

  /** The next frames of the batch, about one piece. */
  #frames(batch: StreamBatch): string {
    const { entries } = batch;
    const place = this.#place;
    if (place === undefined) throw new Error("A stream of one message has no events.");
    let text = "";
    while (this.#sent < entries.length && text.length < CHUNK_LENGTH) {
      const entry = entries[this.#sent];
      this.#sent += 1;
      if (entry === undefined) continue;
      const final = batch.last && this.#sent === entries.length;
      const event = this.#codec.encodeEvent(entry, final ? { ...place, final } : place);
      const name = this.#namesEvents ? this.#codec.eventName?.(entry) : undefined;
      text += `id: ${entry.seq}\n${name === undefined ? "" : `event: ${name}\n`}data: ${this.#envelope.result(event)}\n\n`;
    }
    if (this.#sent === entries.length) {
      this.#batch = undefined;
      this.#sent = 0;
      if (batch.last) this.#finish(undefined);
    }
    return text;
  }

  #finish(error: A2AError | undefined): void {
    if (this.#done) return;
    this.#done = true;
    this.#events?.close();
    this.#ended(this, error);
  }
}

/** The properties that all events of a stream share; `undefined` for a stream of one message. */
function placeOf({ opening, artifacts }: TaskStream, codec: Codec): EventPlace | undefined {
  if (opening.kind !== "task") return undefined;
  const { id, contextId, dialect } = opening.task;
  const state = codec.streamState?.(opening.task, artifacts);
  return { taskId: id, contextId, final: false, origin: dialect, state };
}
