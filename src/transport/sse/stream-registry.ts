import { A2AError } from "../../protocol/error.ts";
import type { EventStream } from "./event-stream.ts";

export interface StreamRegistryOptions {
  readonly heartbeatMs: number;
  readonly maxStreams: number;
}

/** Every open stream of a handler: counts them, keeps them alive with one timer, and can end them all. */
export class StreamRegistry {
  readonly #streams = new Set<EventStream>();
  readonly #options: StreamRegistryOptions;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: StreamRegistryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Throws what a caller is to be told while no stream can be opened. Ask before doing any work for one. */
  admit(): void {
    if (this.#closed) throw new A2AError("unavailable", "The server is shutting down", { retryAfter: 1 });
    if (this.#streams.size >= this.#options.maxStreams) {
      throw new A2AError("resource-exhausted", "Too many streams are open", { retryAfter: 1 });
    }
  }

  add(stream: EventStream): void {
    this.#streams.add(stream);
    if (this.#closed) stream.shutdown();
    this.#timer ??= setInterval(() => this.#beat(), this.#options.heartbeatMs).unref();
  }

  remove(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams, telling their readers to come back, and admits no more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.shutdown();
  }

  #beat(): void {
    for (const stream of this.#streams) stream.heartbeat();
  }
}
