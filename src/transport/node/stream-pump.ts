import type { Writable } from "node:stream";
import { type BodyData, NOT_YET, type PullSource } from "../exchange.ts";
import { DirectWriter, writeChunk } from "./direct-writer.ts";
import { encodingOf } from "./encoding.ts";

export interface PumpOptions {
  /** The body of an answer. */
  readonly sink: Writable;
  /** Of the source's strings. Absent: they are text. */
  readonly encoding?: "latin1" | undefined;
  /** Sends the head of the answer. */
  readonly begin: () => void;
  /** Breaks the answer off, so that its reader notices that it is incomplete. */
  readonly breakOff: () => void;
}

/** Writes a source to an answer. Pulls the next piece only after the connection has accepted the one before. */
export class StreamPump {
  readonly #source: PullSource;
  readonly #options: PumpOptions;
  /** Set after the first piece, with which the head is sent. */
  #direct: DirectWriter | undefined;
  #isFirst = true;

  constructor(source: PullSource, options: PumpOptions) {
    this.#source = source;
    this.#options = options;
  }

  start(): void {
    const { sink, begin, breakOff } = this.#options;
    if (sink.destroyed) {
      this.#source.cancel();
      return;
    }
    sink.on("close", () => this.#source.cancel());
    this.#source.connected?.(breakOff);
    begin();
    this.#run();
  }

  /** Writes all that is there. Called again when there is more, or when the connection accepts more. */
  readonly #run = (): void => {
    for (;;) {
      const piece = this.#source.poll === undefined ? this.#source.pull() : this.#source.poll(this.#run);
      if (piece === NOT_YET) return;
      if (piece instanceof Promise) {
        void piece.then(
          (settled) => {
            if (this.#accepted(settled)) this.#run();
          },
          () => this.#options.breakOff(),
        );
        return;
      }
      if (!this.#accepted(piece)) return;
    }
  };

  /** True if the connection accepts more now; otherwise its `drain` event continues. */
  #accepted(chunk: BodyData | undefined): boolean {
    const { sink } = this.#options;
    if (sink.destroyed) return false;
    if (chunk === undefined) {
      sink.end();
      return false;
    }
    const full = this.#write(chunk);
    full?.once("drain", this.#run);
    return full === undefined;
  }

  /** Returns what is full, if anything is. */
  #write(chunk: BodyData): Writable | undefined {
    const { sink, encoding } = this.#options;
    if (typeof chunk !== "string") return sink.write(chunk) ? undefined : sink;
    const socket = encoding === undefined && chunk !== "" ? this.#direct?.socket : undefined;
    if (socket !== undefined) return writeChunk(socket, chunk) ? undefined : socket;
    const accepts = sink.write(chunk, encoding ?? encodingOf(chunk, Buffer.byteLength(chunk)));
    if (this.#isFirst) {
      this.#isFirst = false;
      this.#direct = DirectWriter.of(sink);
    }
    return accepts ? undefined : sink;
  }
}
