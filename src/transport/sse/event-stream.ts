import { type A2AError, toA2AError } from "../../protocol/error.ts";
import type { StreamBatch, StreamEvents, TaskStream } from "../../server/task-stream.ts";
import type { Codec, EventPlace } from "../../wire/codec.ts";
import { COUNTED_BYTES } from "../answers/answers.ts";
import type { PullSource } from "../exchange.ts";
import { openingFrames } from "./opening.ts";

/** What a binding puts around each frame's text. */
export interface Envelope {
  result(text: string): string;
  error(text: string): string;
}

export interface EventStreamOptions {
  readonly stream: TaskStream;
  readonly codec: Codec;
  readonly envelope: Envelope;
  /** The reader wants frames to say in `event:` what they are, where the dialect has names for that. */
  readonly namesEvents?: boolean;
  /** Counts a long opening while it is sent. Throws where there is no room for it. */
  readonly openAnswer: (opening: string | AsyncGenerator<string>) => PullSource;
  /** Told once, when nothing more will be sent; with what went wrong, if anything did. */
  readonly ended: (source: EventStream, error: A2AError | undefined) => void;
}

/** Characters per piece, about; one event may be longer. */
const CHUNK_LENGTH = 65_536;
const HEARTBEAT = ": \n\n";
const COME_BACK = "retry: 1000\n\n";

/**
 * A task's stream as Server-Sent Events. It holds one batch at most and asks for the next only when its reader has taken
 * that: a slow reader costs a cursor, not a queue. Thousands may sit idle, so it keeps few objects.
 */
export class EventStream implements PullSource {
  readonly #events: StreamEvents | undefined;
  readonly #place: EventPlace | undefined;
  readonly #codec: Codec;
  readonly #envelope: Envelope;
  readonly #namesEvents: boolean;
  readonly #ended: EventStreamOptions["ended"];
  /** Text that goes out before anything else. */
  #ready: string | undefined;
  /** The opening, where it is long: goes out before `#ready`. */
  #opening: PullSource | undefined;
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

  async #pullOpening(opening: PullSource): Promise<string | undefined> {
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

  /** Ends it from this side: the reader is told to come back. What was read already still goes out. */
  shutdown(): void {
    this.#events?.close();
  }

  /** Lets an idle reader know that the connection lives. */
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
      this.#ready = COME_BACK;
      this.#finish(undefined);
    } else {
      this.#batch = batch;
    }
    this.#deliver();
  }

  #failed(error: A2AError): void {
    this.#reading = false;
    if (this.#done) return;
    this.#ready = `event: error\ndata: ${this.#envelope.error(this.#codec.encodeError(error))}\n\n`;
    this.#finish(error);
    this.#deliver();
  }

  #deliver(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    const chunk = this.pull();
    // A promise here would mean that there was nothing to deliver.
    reader(chunk instanceof Promise ? undefined : chunk);
  }

  /** The next frames of the batch, up to about one chunk. */
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

/** What all events of a stream have in common; `undefined` for a stream of one message. */
function placeOf({ opening, artifacts }: TaskStream, codec: Codec): EventPlace | undefined {
  if (opening.kind !== "task") return undefined;
  const { id, contextId, dialect } = opening.task;
  const state = codec.streamState?.(opening.task, artifacts);
  return { taskId: id, contextId, final: false, origin: dialect, state };
}
