import type { Operation } from "../../protocol/operation.ts";
import type { Service } from "../../server/service.ts";
import type { RestCodec, RestFamily } from "../../wire/codec.ts";
import type { Exchange, Headers } from "../exchange.ts";
import { TextCall } from "../text/text-call.ts";
import type { TextEnvelope } from "../text/text-envelope.ts";
import { answerMediaType } from "./media-type.ts";

/** The agent and the operation that a path leads to, and the values of the path's parameters. */
export interface RestMatch {
  readonly service: Service;
  readonly family: RestFamily;
  readonly operation: Operation;
  /** The names of the path's parameters. */
  readonly names: readonly string[];
  /** Their values in the same order, still percent-encoded. */
  readonly captured: readonly string[];
}

/** REST answers are the bare JSON text. */
const BARE: TextEnvelope = { result: (text) => text, error: (text) => text };

/** A REST call. */
export class RestCall extends TextCall<RestCodec> {
  readonly match: RestMatch;

  constructor(exchange: Exchange, match: RestMatch) {
    const { service, family, operation } = match;
    super({
      exchange,
      service,
      operation,
      envelope: BARE,
      codec: (version) => family.choose(version, undefined).codec,
    });
    this.match = match;
    this.headers = restHeaders(this.codec, exchange);
  }

  /** Answers by this codec, with its media type. */
  useCodec(codec: RestCodec): void {
    if (codec === this.codec) return;
    this.codec = codec;
    this.headers = restHeaders(codec, this.exchange);
  }
}

/** Shared caches must not keep answers: they are for one caller, and may differ a moment later. */
export function restHeaders({ mediaTypes }: RestCodec, exchange: Exchange): Headers {
  const wishes = { accept: exchange.header("accept"), contentType: exchange.header("content-type") };
  return { "content-type": answerMediaType(mediaTypes, wishes), "cache-control": "private, no-cache" };
}
