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

export interface CallPathRules {
  /** Identifies this server. Stays the same after a restart, and all nodes of one store share it. */
  readonly serverId: string;
  /** The most agents that may have forwarded a message before it arrives here. */
  readonly maxHops: number;
}

/** The agent that receives a message, and its rules for call paths. */
export interface CallPathReceiver {
  readonly agent: { readonly id: string };
  /** Absent: call paths are not checked. */
  readonly callPaths?: CallPathRules | undefined;
}

export interface AcceptedRequest {
  /** The request without the call path, which is not part of the caller's own metadata. */
  readonly request: OperationRequest;
  readonly callPath: CallPath;
}

/**
 * Reads the call path, the list of agents that forwarded a message, from the header and from the request's metadata: a proxy may have
 * removed either. Throws `loop-detected` if this agent is on the path or the path is longer than `maxHops`, and `invalid-params` if the
 * path cannot be parsed. Only sends are checked: other requests start no work.
 */
export function acceptCallPath(
  service: CallPathReceiver,
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
    throw new A2AError("loop-detected", "Loop detected: this agent has already forwarded the message", {
      metadata: { hops: String(callPath.length) },
    });
  }
  if (callPath.length > maxHops) {
    throw new A2AError(
      "loop-detected",
      `Loop detected: ${callPath.length} agents have forwarded the message; at most ${maxHops} are allowed`,
      { metadata: { hops: String(callPath.length), maxHops: String(maxHops) } },
    );
  }
}
