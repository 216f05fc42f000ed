import type { Codec } from "../../wire/codec.ts";
import { ServedCall, type ServedCallOptions } from "../call/served-call.ts";
import type { Headers } from "../exchange.ts";
import type { TextEnvelope } from "./text-envelope.ts";

const JSON_HEADERS: Headers = { "content-type": "application/json" };

export interface TextCallOptions<C extends Codec> extends ServedCallOptions<C> {
  readonly envelope: TextEnvelope;
}

/** A call over a binding whose answers are JSON text: JSON-RPC or REST. */
export class TextCall<C extends Codec = Codec> extends ServedCall<C> {
  envelope: TextEnvelope;
  /** Sent with every answer that is not a stream. */
  headers: Headers = JSON_HEADERS;

  constructor(options: TextCallOptions<C>) {
    super(options);
    this.envelope = options.envelope;
  }

  /** Answers in the style in which the task was created, if the request does not show in which style its caller reads. */
  useStyleOf(createdIn: string | undefined): void {
    // Safe: a codec that is chosen per task is one of the same binding.
    if (this.codec.forTask !== undefined) this.codec = this.codec.forTask(createdIn) as C;
  }

  /** These headers, together with the active extensions and the caller's rate limit. */
  headersWith(headers: Headers): Headers {
    const { activeExtensions, limitHeaders, codec } = this;
    if (activeExtensions.length === 0) return limitHeaders === undefined ? headers : { ...headers, ...limitHeaders };
    return { ...headers, ...limitHeaders, [codec.extensionsHeader]: activeExtensions.join(", ") };
  }
}
