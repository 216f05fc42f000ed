import { seqOfGeneration } from "../../protocol/generation.ts";
import type { Operation, OperationRequest } from "../../protocol/operation.ts";
import { asObject, member } from "../fields/fields.ts";
import { decodeRequest as decodeOlder } from "../v1_0/request.ts";
import { optionalGeneration } from "./generation.ts";

/** As in 1.0, with `currentGeneration` of a get and `ifGenerationMatch` of a send. Throws `invalid-params`. */
export function decodeRequest(operation: Operation, params: unknown): OperationRequest {
  const request = decodeOlder(operation, params);
  const wire = asObject(params ?? {}, "params");
  if (request.operation === "get") {
    const current = optionalGeneration(member(wire, "currentGeneration", "current_generation"), "currentGeneration");
    return current === undefined ? request : { ...request, waitAfterSeq: seqOfGeneration(current) };
  }
  if (request.operation !== "send" && request.operation !== "stream") return request;
  const configuration = asObject(member(wire, "configuration") ?? {}, "configuration");
  const expected = optionalGeneration(
    member(configuration, "ifGenerationMatch", "if_generation_match"),
    "configuration.ifGenerationMatch",
  );
  return expected === undefined ? request : { ...request, expectedSeq: seqOfGeneration(expected) };
}
