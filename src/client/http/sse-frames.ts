import type { TextReader } from "./http.ts";
import type { ServerSentEvent, SseParser } from "./sse.ts";
import { Turns } from "./turns.ts";

/** Where the text comes from, and what becomes of its events. */
export interface SseFramesOptions<E> {
  readonly reader: TextReader;
  readonly parser: SseParser;
  readonly signal: AbortSignal;
  /** May throw: the error is thrown by `next`, and the connection is closed. */
  decode(event: ServerSentEvent): E;
  /** Called when the connection is closed, possibly more than once. */
  ended(): void;
}

/** The frames of one connection, decoded one by one when they are requested. */
export class SseFrames<E> {
  readonly #reader: TextReader;
  readonly #parser: SseParser;
  readonly #decode: (event: ServerSentEvent) => E;
  readonly #ended: () => void;
  readonly #turns: Turns;
  #events: ServerSentEvent[] = [];
  #next = 0;

  constructor({ reader, parser, decode, ended, signal }: SseFramesOptions<E>) {
    this.#reader = reader;
    this.#parser = parser;
    this.#decode = decode;
    this.#ended = ended;
    this.#turns = new Turns(signal);
  }

  get retry(): number | undefined {
    return this.#parser.retry;
  }

  /** `undefined` at the end of the stream. After an error or the end, the connection is closed. */
  async next(): Promise<{ readonly id: string | undefined; readonly event: E } | undefined> {
    try {
      const event = await this.#read();
      if (event === undefined) this.close();
      return event === undefined ? undefined : { id: event.id, event: this.#decode(event) };
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  close(): void {
    this.#events = [];
    this.#next = 0;
    this.#reader.cancel();
    this.#ended();
  }

  /** The next event that has arrived already, else reads more text. */
  async #read(): Promise<ServerSentEvent | undefined> {
    for (;;) {
      // Events that have arrived already are not delivered after an abort.
      const pause = this.#turns.step();
      if (pause !== undefined) await pause;
      const event = this.#events[this.#next];
      if (event !== undefined) {
        this.#next++;
        return event;
      }
      const text = await this.#reader.next();
      if (text === undefined) return this.#parser.end();
      this.#events = this.#parser.push(text);
      this.#next = 0;
    }
  }
}
