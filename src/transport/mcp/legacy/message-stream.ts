import type { JsonObject } from "../../../protocol/json.ts";
import type { PullSource } from "../../exchange.ts";
import type { OpenStream } from "../../streams/stream-registry.ts";

/** Notifications are left out while this many messages wait for the reader. */
const MAX_WAITING = 64;

/** The messages of the server that answer one request, as server-sent events. */
export class MessageStream implements PullSource<string>, OpenStream {
  readonly #frames: string[] = [];
  readonly #gone: () => void;
  #ready: (() => void) | undefined;
  #isEnded = false;

  /** `gone` is called if the reader disconnects before the end. */
  constructor(gone: () => void) {
    this.#gone = gone;
  }

  /** Sends a message. */
  send(message: JsonObject): void {
    this.#push(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** Sends a message that a slow reader may miss. */
  notify(message: JsonObject): void {
    if (this.#frames.length < MAX_WAITING) this.send(message);
  }

  end(): void {
    this.#isEnded = true;
    this.#ready?.();
  }

  heartbeat(): void {
    if (this.#frames.length === 0 && !this.#isEnded) this.#push(": keep-alive\n\n");
  }

  /** The call that writes the stream ends by itself: its task can no longer be followed. */
  shutdown(): void {}

  async pull(): Promise<string | undefined> {
    while (this.#frames.length === 0) {
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#ready = resolve;
      });
    }
    return this.#frames.splice(0).join("");
  }

  cancel(): void {
    if (!this.#isEnded) this.#gone();
    this.#frames.length = 0;
    this.end();
  }

  #push(frame: string): void {
    if (this.#isEnded) return;
    this.#frames.push(frame);
    this.#ready?.();
  }
}
