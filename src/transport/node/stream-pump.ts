import type { ServerResponse } from "node:http";
import { type BodyData, COMMON_HEADERS, type PullSource, type StreamReply } from "../exchange.ts";
import { encodingOf } from "./encoding.ts";

/** Writes a source to a response. Pulls the next piece only after the connection has accepted the one before. */
export class StreamPump {
  readonly #source: PullSource;
  readonly #response: ServerResponse;

  constructor(source: PullSource, response: ServerResponse) {
    this.#source = source;
    this.#response = response;
  }

  start({ status, headers }: StreamReply): void {
    if (this.#response.destroyed) {
      this.#source.cancel();
      return;
    }
    this.#response.on("close", () => this.#source.cancel());
    this.#source.connected?.(() => this.#response.destroy());
    this.#response.writeHead(status, { ...COMMON_HEADERS, ...headers });
    this.#run();
  }

  #run(): void {
    for (;;) {
      const chunk = this.#source.pull();
      if (chunk instanceof Promise) {
        void chunk.then(
          (settled) => {
            if (this.#accepted(settled)) this.#run();
          },
          () => this.#response.destroy(),
        );
        return;
      }
      if (!this.#accepted(chunk)) return;
    }
  }

  /** True if the connection accepts more now; otherwise its `drain` event continues. */
  #accepted(chunk: BodyData | undefined): boolean {
    if (this.#response.destroyed) return false;
    if (chunk === undefined) {
      this.#response.end();
      return false;
    }
    if (this.#write(chunk)) return true;
    this.#response.once("drain", () => this.#run());
    return false;
  }

  #write(chunk: BodyData): boolean {
    if (typeof chunk !== "string") return this.#response.write(chunk);
    return this.#response.write(chunk, encodingOf(chunk, Buffer.byteLength(chunk)));
  }
}
