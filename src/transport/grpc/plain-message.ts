import type { ProtoType } from "../../wire/proto-type.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import { readMessage } from "./read-message.ts";

/** Bytes of a request: it holds one name. */
const MAX_REQUEST = 4096;

/** The message of a call to a service besides A2A, as ProtoJSON. Rejects with an `A2AError` for an invalid one. */
export async function messageOf(exchange: Exchange, { environment }: Endpoint, type: ProtoType): Promise<unknown> {
  return type.decode(await readMessage(exchange, environment, MAX_REQUEST));
}
