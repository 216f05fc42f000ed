import { readAnswer } from "../client/agent-answer.ts";
import type { RemoteEvent, RestClientCodec } from "../client/client-codec.ts";
import { asObject } from "../fields/fields.ts";
import { decodeCard } from "../v0_3/card.ts";
import { decodeError } from "../v0_3/error.ts";
import { decodeRemoteEvent as decodeJsonEvent } from "../v0_3/event.ts";
import { decodeRemoteResult, type RemoteReaders } from "../v0_3/remote-result.ts";
import { remote as remoteJson } from "../v0_3/task.ts";
import { encodeRestRequest } from "./client-request.ts";
import { decodeRemoteEvent, payloadOf } from "./event.ts";
import { remote } from "./task.ts";

/** Requests have the proto style; answers may have either. An answer with `kind` has the JSON style. */
const READERS: RemoteReaders = {
  task: (value, path) => (hasKind(value) ? remoteJson.task(value, path) : remote.task(value, path)),
  event: decodeEvent,
  // The same reader for both styles, because some agents write their cards in the other style.
  card: decodeCard,
};

/** The client side of REST 0.3 as official servers implement it. */
export function createRestClientCodec(): RestClientCodec {
  return {
    dialect: "0.3/rest-proto",
    version: "0.3",
    encodeRequest: encodeRestRequest,
    decodeResult: (operation, value) => readAnswer(() => decodeRemoteResult(operation, value, READERS)),
    decodeEvent: (value) => readAnswer(() => decodeEvent(value)),
    decodeError,
  };
}

/** A frame of either style. A wrapped frame may still have the JSON style inside: then its content has `kind`. */
function decodeEvent(value: unknown): RemoteEvent {
  const frame = asObject(value, "result");
  const payload = payloadOf(frame);
  if (payload === undefined || hasKind(frame) || hasKind(payload.value)) return decodeJsonEvent(frame);
  return decodeRemoteEvent(payload);
}

function hasKind(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value;
}
