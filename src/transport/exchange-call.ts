import type { CallPath } from "../protocol/call-path.ts";
import type { OperationPolicy } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Call } from "../server/call.ts";
import type { Codec } from "../wire/codec.ts";
import type { Exchange } from "./exchange.ts";
import { requestedExtensions } from "./service-parameters.ts";

export interface CallIdentity {
  readonly principal: Principal;
  readonly codec: Codec;
  readonly callPath?: CallPath | undefined;
}

/** A call that came by HTTP. A class, because one is made per request and the signal must stay unmade until somebody asks. */
export class ExchangeCall implements Call {
  readonly principal: Principal;
  readonly dialect: string;
  readonly policy: OperationPolicy;
  readonly requestedExtensions: readonly string[];
  activeExtensions: readonly string[] = [];
  readonly traceparent: string | undefined;
  readonly lastEventId: string | undefined;
  readonly callPath: CallPath | undefined;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, { principal, codec, callPath }: CallIdentity) {
    this.principal = principal;
    this.dialect = codec.dialect;
    this.policy = codec.policy;
    this.requestedExtensions = requestedExtensions(exchange);
    this.traceparent = exchange.header("traceparent");
    this.lastEventId = exchange.header("last-event-id");
    this.callPath = callPath;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}
