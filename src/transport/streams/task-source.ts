import { type A2AError, toA2AError } from "../../protocol/error.ts";
import type { StreamBatch, StreamEvents, StreamReader } from "../../server/task-stream.ts";
import { type BodyData, NOT_YET, type PullSource } from "../exchange.ts";
import type { OpenStream } from "./stream-registry.ts";

/** How a binding writes the events of a stream. Pieces that are `undefined` are not sent. */
export interface Framing<P extends BodyData> {
  /** The frames of a batch from the entry at `from`: about one piece, and the index of the first entry after it. */
  frames(batch: StreamBatch, from: number): { readonly piece: P; readonly next: number };
  /** Sent to an idle reader, so that the connection is not closed as inactive. */
  readonly heartbeat?: P;
  /** The stream ends early: asks the reader to reconnect. */
  reconnect(): P | undefined;
  /** The stream fails. */
  failure(error: A2AError): P | undefined;
}

export interface TaskSourceOptions<P extends BodyData> {
  /** Absent: the stream ends after the opening. */
  readonly events: StreamEvents | undefined;
  /** A long opening is a source of its own. */
  readonly opening: P | PullSource<P>;
  readonly framing: Framing<P>;
  /** Called once, when nothing more will be sent; with an error if the stream failed. */
  readonly ended: (source: OpenStream, error: A2AError | undefined) => void;
}

/**
 * A task's stream as a body. It holds at most one batch and reads the next only when its reader has taken all of it: a slow reader costs a
 * cursor, not a queue. Thousands of streams may be idle, so each keeps few objects.
 */
export class TaskSource<P extends BodyData> implements PullSource<P>, OpenStream, StreamReader {
  readonly #events: StreamEvents | undefined;
  readonly #framing: Framing<P>;
  readonly #ended: TaskSourceOptions<P>["ended"];
  /** To be sent before the batch. */
  #ready: P | undefined;
  /** A long opening, sent before `#ready`. */
  #opening: PullSource<P> | undefined;
  #batch: StreamBatch | undefined;
  #sent = 0;
  #reading = false;
  #done = false;
  /** Present while the reader waits for a piece. */
  #wake: (() => void) | undefined;

  constructor({ events, opening, framing, ended }: TaskSourceOptions<P>) {
    this.#events = events;
    this.#framing = framing;
    this.#ended = ended;
    if (typeof opening === "object" && "pull" in opening) this.#opening = opening;
    else this.#ready = opening;
  }

  connected(disconnect: () => void): void {
    this.#opening?.connected?.(disconnect);
  }

  pull(): P | undefined | Promise<P | undefined> {
    let resolve: ((piece: P | undefined | Promise<P | undefined>) => void) | undefined;
    const piece = this.poll(() => resolve?.(this.pull()));
    if (piece !== NOT_YET) return piece;
    return new Promise((settle) => {
      resolve = settle;
    });
  }

  poll(ready: () => void): P | undefined | Promise<P | undefined> | typeof NOT_YET {
    if (this.#opening !== undefined) return this.#pullOpening(this.#opening);
    if (this.#isWaiting) this.#read();
    if (this.#isWaiting) {
      this.#wake = ready;
      return NOT_YET;
    }
    const piece = this.#ready;
    if (piece === undefined) return this.#batch === undefined ? undefined : this.#frames(this.#batch);
    this.#ready = undefined;
    if (this.#events === undefined) this.#finish(undefined);
    return piece;
  }

  /** Nothing is there to be sent, and more will come. */
  get #isWaiting(): boolean {
    return this.#ready === undefined && this.#batch === undefined && !this.#done;
  }

  async #pullOpening(opening: PullSource<P>): Promise<P | undefined> {
    try {
      const piece = await opening.pull();
      if (piece !== undefined || this.#done) return piece;
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

  heartbeat(): void {
    const { heartbeat } = this.#framing;
    if (this.#wake === undefined || heartbeat === undefined) return;
    this.#ready = heartbeat;
    this.#deliver();
  }

  #read(): void {
    if (this.#reading || this.#events === undefined) return;
    this.#reading = true;
    this.#events.take(this);
  }

  arrived(batch: StreamBatch | undefined): void {
    this.#reading = false;
    if (this.#done) return;
    if (batch === undefined) {
      this.#ready = this.#framing.reconnect();
      this.#finish(undefined);
    } else {
      this.#batch = batch;
    }
    this.#deliver();
  }

  failed(thrown: unknown): void {
    this.#reading = false;
    if (this.#done) return;
    const error = toA2AError(thrown);
    this.#ready = this.#framing.failure(error);
    this.#finish(error);
    this.#deliver();
  }

  /** Calls the reader, if it waits. */
  #deliver(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #frames(batch: StreamBatch): P {
    const { piece, next } = this.#framing.frames(batch, this.#sent);
    this.#sent = next;
    if (next === batch.entries.length) {
      this.#batch = undefined;
      this.#sent = 0;
      if (batch.last) this.#finish(undefined);
    }
    return piece;
  }

  #finish(error: A2AError | undefined): void {
    if (this.#done) return;
    this.#done = true;
    this.#events?.close();
    this.#ended(this, error);
  }
}
