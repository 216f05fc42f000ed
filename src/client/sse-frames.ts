import type { TextReader } from "./http.ts";
import type { ServerSentEvent, SseParser } from "./sse.ts";

export interface SseFramesOptions<E> {
  readonly reader: TextReader;
  readonly parser: SseParser;
  decode(event: ServerSentEvent): E;
  ended(): void;
}

/** The frames of one connection, decoded one by one as they are asked for. */
export class SseFrames<E> {
  readonly #reader: TextReader;
  readonly #parser: SseParser;
  readonly #decode: (event: ServerSentEvent) => E;
  readonly #ended: () => void;
  #events: ServerSentEvent[] = [];
  #next = 0;

  constructor({ reader, parser, decode, ended }: SseFramesOptions<E>) {
    this.#reader = reader;
    this.#parser = parser;
    this.#decode = decode;
    this.#ended = ended;
  }

  get retry(): number | undefined {
    return this.#parser.retry;
  }

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

  async #read(): Promise<ServerSentEvent | undefined> {
    for (;;) {
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
