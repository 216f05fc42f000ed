import type { ServerResponse } from "node:http";
import { COMMON_HEADERS, type PullSource, type StreamReply } from "../exchange.ts";
import { encodingOf } from "./encoding.ts";

/** Carries a source to a response, never pulling before the connection has taken what was pulled last. */
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
          (text) => {
            if (this.#accepted(text)) this.#run();
          },
          () => this.#response.destroy(),
        );
        return;
      }
      if (!this.#accepted(chunk)) return;
    }
  }

  /** Whether the connection takes more at once; if not, its `drain` goes on. */
  #accepted(chunk: string | undefined): boolean {
    if (this.#response.destroyed) return false;
    if (chunk === undefined) {
      this.#response.end();
      return false;
    }
    if (this.#response.write(chunk, encodingOf(chunk, Buffer.byteLength(chunk)))) return true;
    this.#response.once("drain", () => this.#run());
    return false;
  }
}
