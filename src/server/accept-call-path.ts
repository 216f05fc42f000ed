import {
  CALL_PATH_KEY,
  type CallPath,
  callPathEntry,
  callPathIn,
  joinCallPaths,
  NO_CALL_PATH,
  parseCallPath,
  withoutCallPath,
} from "../protocol/call-path.ts";
import { A2AError } from "../protocol/error.ts";
import type { OperationRequest } from "../protocol/operation.ts";
import type { Service } from "./service.ts";

export interface CallPathRules {
  /** Names this server: the same after a restart and for all nodes of one store. */
  readonly serverId: string;
  /** Agents that a message may have passed. */
  readonly maxHops: number;
}

export interface AcceptedRequest {
  /** Without the path, which is no metadata of the caller's. */
  readonly request: OperationRequest;
  readonly callPath: CallPath;
}

/**
 * The agents that a message has passed, by the header and by the request's metadata: a proxy may have removed one of the two. Throws
 * `loop-detected` where this agent is among them or where they are too many, and `invalid-params` where they cannot be read. Requests
 * that send no message start no work and are not checked.
 */
export function acceptCallPath(
  service: Service,
  request: OperationRequest,
  header: string | undefined,
): AcceptedRequest {
  const { callPaths } = service;
  if (callPaths === undefined || (request.operation !== "send" && request.operation !== "stream"))
    return { request, callPath: NO_CALL_PATH };
  const { metadata } = request;
  const isInMetadata = CALL_PATH_KEY in metadata;
  if (header === undefined && !isInMetadata) return { request, callPath: NO_CALL_PATH };
  const callPath = joinCallPaths(header === undefined ? NO_CALL_PATH : parseCallPath(header), callPathIn(metadata));
  refuseLoop(callPath, callPathEntry(callPaths.serverId, service.agent.id), callPaths.maxHops);
  return { request: isInMetadata ? { ...request, metadata: withoutCallPath(metadata) } : request, callPath };
}

function refuseLoop(callPath: CallPath, own: string, maxHops: number): void {
  if (callPath.includes(own)) {
    throw new A2AError(
      "loop-detected",
      "Loop detected: this agent has passed the message on, and the message has come back to it",
      { metadata: { hops: String(callPath.length) } },
    );
  }
  if (callPath.length > maxHops) {
    throw new A2AError(
      "loop-detected",
      `Loop detected: the message has passed ${callPath.length} agents, and ${maxHops} are allowed`,
      { metadata: { hops: String(callPath.length), maxHops: String(maxHops) } },
    );
  }
}
