import { A2AError } from "../../protocol/error.ts";
import type { GrpcClientCodec } from "../../wire/client/grpc-client-codec.ts";
import { FrameReader } from "../../wire/grpc-frame.ts";
import type { Frame, FrameStream, PreparedCall } from "../http/channel.ts";
import { RemoteError, remoteErrorOf } from "../http/errors.ts";
import type { IdleWatch } from "../http/idle-watch.ts";
import type { ClientSettings } from "../http/settings.ts";
import { Turns } from "../http/turns.ts";
import { statusError, UNAVAILABLE } from "./grpc-status.ts";
import type { Http2Answer } from "./http2-connection.ts";

export interface GrpcFramesOptions {
  readonly answer: Http2Answer;
  readonly call: PreparedCall;
  readonly codec: GrpcClientCodec;
  readonly settings: ClientSettings;
  /** Its signal aborts the answer. */
  readonly idle: IdleWatch;
}

/** Milliseconds to wait before reconnecting to a server that ends its streams because it shuts down. */
const RECONNECT_AFTER = 1000;

/** The events of one call, decoded one by one when they are requested. */
export class GrpcFrames implements FrameStream {
  readonly #options: GrpcFramesOptions;
  readonly #reader: FrameReader;
  readonly #turns: Turns;
  readonly #idle: IdleWatch;
  #retry: number | undefined;

  constructor(options: GrpcFramesOptions) {
    const { settings, idle } = options;
    this.#options = options;
    this.#reader = new FrameReader(settings.maxEventLength);
    this.#turns = new Turns(idle.signal);
    this.#idle = idle;
    this.#idle.touch();
  }

  get retry(): number | undefined {
    return this.#retry;
  }

  async next(): Promise<Frame | undefined> {
    try {
      const message = await this.#message();
      if (message !== undefined) return this.#options.codec.decodeEvent(message);
      this.#idle.stop();
      return this.#end();
    } catch (thrown) {
      this.close();
      if (thrown instanceof A2AError) throw remoteErrorOf(thrown);
      if (thrown instanceof RangeError) throw tooLarge(this.#options.settings);
      throw thrown;
    }
  }

  close(): void {
    this.#idle.stop();
    this.#options.answer.cancel();
  }

  async #message(): Promise<Uint8Array | undefined> {
    for (;;) {
      // Events that have arrived already are not delivered after an abort.
      const pause = this.#turns.step();
      if (pause !== undefined) await pause;
      const message = this.#reader.next();
      if (message !== undefined) return message;
      const chunk = await this.#options.answer.next();
      if (chunk === undefined) return undefined;
      this.#idle.touch();
      this.#reader.add(chunk);
    }
  }

  /** Throws the error of the call. A server that shuts down ended the stream early, and its client may subscribe again. */
  #end(): undefined {
    const { answer, codec, call } = this.#options;
    const error = statusError(codec, call.operation, answer.trailers);
    if (error?.remote.grpcStatus === UNAVAILABLE) {
      this.#retry = RECONNECT_AFTER;
      return undefined;
    }
    if (error !== undefined) throw error;
    return undefined;
  }
}

function tooLarge({ maxEventLength }: ClientSettings): RemoteError {
  return new RemoteError("event-too-large", `An event of the stream has more than ${maxEventLength} bytes.`);
}
