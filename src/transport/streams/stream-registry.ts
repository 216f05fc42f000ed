import { A2AError } from "../../protocol/error.ts";

/** An open stream of any binding, as the registry controls it. */
export interface OpenStream {
  /** Sends a sign of life to an idle reader. Called every `heartbeatMs`. */
  heartbeat(): void;
  /** Ends the stream from this side and asks the reader to reconnect. Events that were read from the store still go out. */
  shutdown(): void;
}

export interface StreamRegistryOptions {
  readonly heartbeatMs: number;
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
}

/** The permission to open one stream, counted until released. */
export interface StreamPlace {
  /** Idempotent. */
  release(): void;
}

/** All open streams of a handler: limits their number, sends heartbeats with one timer, and can end them all. */
export class StreamRegistry {
  readonly #streams = new Set<OpenStream>();
  readonly #options: StreamRegistryOptions;
  /** Admitted streams, including those that are not open yet. */
  #places = 0;
  readonly #placesOf = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: StreamRegistryOptions) {
    this.#options = options;
  }

  /** The server shuts down: no stream is admitted any more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Admits a stream of this caller, before any work is done for it, so that simultaneous requests cannot exceed the limits. Throws
   * `resource-exhausted` at a limit, and `unavailable` while the server shuts down.
   */
  admit(caller: string): StreamPlace {
    if (this.#closed) throw new A2AError("unavailable", "The server is shutting down", { retryAfter: 1 });
    const { maxStreams, maxStreamsPerCaller } = this.#options;
    if (this.#places >= maxStreams) {
      throw new A2AError("resource-exhausted", "Too many streams are open; try again in 1 s", { retryAfter: 1 });
    }
    if ((this.#placesOf.get(caller) ?? 0) >= maxStreamsPerCaller) {
      throw new A2AError("resource-exhausted", `The caller has ${maxStreamsPerCaller} open streams, the most allowed`, {
        retryAfter: 1,
      });
    }
    this.#count(caller, 1);
    let released = false;
    return {
      release: () => {
        if (!released) this.#count(caller, -1);
        released = true;
      },
    };
  }

  add(stream: OpenStream): void {
    this.#streams.add(stream);
    if (this.#closed) stream.shutdown();
    this.#timer ??= setInterval(() => this.#beat(), this.#options.heartbeatMs).unref();
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams, asks their readers to reconnect, and admits no more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.shutdown();
  }

  #count(caller: string, by: 1 | -1): void {
    this.#places += by;
    const places = (this.#placesOf.get(caller) ?? 0) + by;
    if (places > 0) this.#placesOf.set(caller, places);
    else this.#placesOf.delete(caller);
  }

  #beat(): void {
    for (const stream of this.#streams) stream.heartbeat();
  }
}
