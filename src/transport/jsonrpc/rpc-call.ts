import type { Service } from "../../server/service.ts";
import type { RpcCodec } from "../../wire/codec.ts";
import type { Dialects } from "../../wire/dialects.ts";
import type { Exchange } from "../exchange.ts";
import { TextCall } from "../text/text-call.ts";
import { UNIDENTIFIED } from "./envelope.ts";

/** The agent that a request addresses, and how the path asks for streams to be written. */
export interface RpcMatch {
  readonly service: Service;
  /** Frames of a stream have an `event:` line, if the dialect names its events. */
  readonly namesEvents: boolean;
}

/** A JSON-RPC call. Until its body is read, errors are written with the id `null`. */
export class RpcCall extends TextCall<RpcCodec> {
  readonly namesEvents: boolean;
  /** An error is sent as the only event of a stream, because this caller reads nothing else. */
  errorAsEvent = false;

  constructor({ fallbackRpc }: Dialects, exchange: Exchange, { service, namesEvents }: RpcMatch) {
    super({ exchange, service, envelope: UNIDENTIFIED, codec: fallbackRpc });
    this.namesEvents = namesEvents;
  }
}
