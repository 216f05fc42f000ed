import { A2AError } from "../../protocol/error.ts";
import { PREFIX_BYTES } from "../../wire/grpc-frame.ts";
import type { Exchange, Headers } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import { prefixCheck, unframe } from "./frame.ts";

/** The encodings that messages may have. */
const ENCODINGS = ["identity", "gzip"];

/** An answer with this header tells the caller which encodings it may use. */
export const ACCEPTED_ENCODINGS: Headers = { "grpc-accept-encoding": ENCODINGS.join(",") };

/**
 * The only message of a call, decompressed. Its memory counts for the caller's network address while it arrives. `limit`: the most bytes;
 * default: those of a request body.
 */
export async function readMessage(
  exchange: Exchange,
  environment: TransportEnvironment,
  limit: number = environment.maxBodyBytes,
): Promise<Uint8Array> {
  const { bodyMemory, remoteOf } = environment;
  const encoding = encodingOf(exchange);
  const reserve = (drop: () => void) => bodyMemory.reserve(remoteOf(exchange), drop);
  const body = await exchange.body(limit + PREFIX_BYTES, reserve, prefixCheck(limit, encoding));
  return unframe(body, { limit, encoding });
}

/** How the messages of a call are compressed; `undefined`: not at all. Throws an {@link UnknownEncoding}. */
export function encodingOf(exchange: Exchange): string | undefined {
  const encoding = exchange.header("grpc-encoding");
  if (encoding !== undefined && !ENCODINGS.includes(encoding)) throw new UnknownEncoding();
  return encoding;
}

/** The caller compressed its message in a way that this server does not support. */
export class UnknownEncoding extends A2AError {
  constructor() {
    super("method-not-found", `grpc-encoding must be one of ${ENCODINGS.join(", ")}`);
  }
}
