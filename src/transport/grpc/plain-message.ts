import { toA2AError } from "../../protocol/error.ts";
import type { ProtoType } from "../../wire/proto-type.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, FullReply } from "../exchange.ts";
import { ACCEPTED_ENCODINGS, readMessage, UnknownEncoding } from "./read-message.ts";
import { INVALID_ARGUMENT, RESOURCE_EXHAUSTED, statusReply, UNAVAILABLE, UNIMPLEMENTED } from "./status.ts";

/** Bytes of a request: it holds one name. */
export const MAX_PLAIN_REQUEST = 4096;

/** The message of a call to a service besides A2A, as ProtoJSON. Rejects with an error for {@link plainRefusal}. */
export async function messageOf(exchange: Exchange, { environment }: Endpoint, type: ProtoType): Promise<unknown> {
  return type.decode(await readMessage(exchange, environment, MAX_PLAIN_REQUEST));
}

/** Refuses a call to a service besides A2A. `typeName`: the message that was expected. */
export function plainRefusal(thrown: unknown, typeName: string): FullReply {
  const { code, message } = toA2AError(thrown);
  if (thrown instanceof UnknownEncoding) return statusReply({ code: UNIMPLEMENTED.code, message }, ACCEPTED_ENCODINGS);
  if (code === "unavailable") return statusReply({ code: UNAVAILABLE, message });
  if (code === "payload-too-large" || code === "resource-exhausted")
    return statusReply({ code: RESOURCE_EXHAUSTED, message });
  return statusReply({ code: INVALID_ARGUMENT, message: `The request is not a ${typeName}` });
}
