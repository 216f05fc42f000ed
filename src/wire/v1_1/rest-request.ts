import type { Operation } from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import type { WireObject } from "../fields/fields.ts";
import { paramsOf as olderParamsOf, queryText } from "../v1_0/rest-request.ts";

/** As in 1.0, with `currentGeneration` in the query of a get. */
export function paramsOf(operation: Operation, request: RestRequest): WireObject {
  const params = olderParamsOf(operation, request);
  if (operation !== "get" || request.query.size === 0) return params;
  const currentGeneration = queryText(request.query, "currentGeneration", "current_generation");
  return currentGeneration === "" ? params : { ...params, currentGeneration };
}
