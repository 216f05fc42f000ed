import type { RestFamily } from "../../wire/codec.ts";
import type { Refuse } from "../router.ts";
import { requestedVersion } from "../service-parameters.ts";
import { restHeaders } from "./rest-call.ts";

/** Writes an error at a path of this family for a request that never becomes a call, such as one with the wrong HTTP method. */
export function restRefusal(family: RestFamily): Refuse {
  return (exchange, error) => {
    const { codec } = family.choose(requestedVersion(exchange), undefined);
    return { status: codec.statusOf(error), headers: restHeaders(codec, exchange), body: codec.encodeError(error) };
  };
}
