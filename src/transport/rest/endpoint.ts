import type { RestFamily } from "../../wire/codec.ts";
import { answerCall } from "../call/answer-call.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, Reply } from "../exchange.ts";
import type { Refuse } from "../router.ts";
import { requestedVersion } from "../service-parameters.ts";
import { REST_PRESENTER } from "./presenter.ts";
import { RestCall, type RestMatch, restHeaders } from "./rest-call.ts";

/** Answers one REST request of any supported version. Never rejects. */
export function handleRest(endpoint: Endpoint, exchange: Exchange, match: RestMatch): Promise<Reply> {
  return answerCall(endpoint, new RestCall(exchange, match), REST_PRESENTER);
}

/** Writes an error at a path of this family for a request that never becomes a call, such as one with the wrong HTTP method. */
export function restRefusal(family: RestFamily): Refuse {
  return (exchange, error) => {
    const { codec } = family.choose(requestedVersion(exchange), undefined);
    return { status: codec.statusOf(error), headers: restHeaders(codec, exchange), body: codec.encodeError(error) };
  };
}
