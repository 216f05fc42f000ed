import type { CallLimits } from "../engine/agent/agent.ts";
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
import { type Ancestry, ancestryTextIn, CALLS } from "../protocol/calls/ancestry.ts";
import { A2AError, invalidField } from "../protocol/error.ts";
import type { OperationRequest, SendRequest } from "../protocol/operation.ts";

export interface CallPathRules {
  /** Identifies this server. Stays the same after a restart, and all nodes of one store share it. */
  readonly serverId: string;
  /** The most agents that may have forwarded a message before it arrives here. */
  readonly maxHops: number;
  /** Absent: messages have no ancestry. */
  readonly ancestry?: AncestryRules | undefined;
}

/** How the ancestry of messages is read and checked. */
export interface AncestryRules {
  /** Resolves with the problem if the text is not the ancestry of this message. */
  read(text: string, messageId: string): Promise<Ancestry | { readonly problem: string }>;
  /** The call path entry of the agent of this server that has created the context for a call; `undefined`: none has. */
  creatorOf(contextId: string): string | undefined;
  limitsOf(agent: string): Pick<CallLimits, "depth" | "cycles">;
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
  /** Absent: no agent has sent the message. */
  readonly ancestry?: Ancestry | undefined;
}

/**
 * Reads the call path, the list of agents that forwarded a message, from the header and from the request's metadata: a proxy may have
 * removed either. Throws `loop-detected` if this agent is on the path or the path is longer than `maxHops`, and `invalid-params` if the
 * path cannot be parsed. Only sends are checked: other requests start no work. The ancestry of a message says more than its path: then it rejects with
 * `loop-detected` over the depth, with `resource-exhausted` if the deadline or the budget is used up, and with `invalid-params` if it is forged.
 */
export function acceptCallPath(
  service: CallPathReceiver,
  request: OperationRequest,
  header: string | undefined,
): AcceptedRequest | Promise<AcceptedRequest> {
  const { callPaths } = service;
  if (callPaths === undefined || (request.operation !== "send" && request.operation !== "stream"))
    return { request, callPath: NO_CALL_PATH };
  const { metadata, message } = request;
  const isInMetadata = CALL_PATH_KEY in metadata;
  const { ancestry: rules } = callPaths;
  if (rules !== undefined && CALLS in metadata) return acceptAncestry(service, request, { header, callPaths, rules });
  const creator = message.contextId === undefined ? undefined : rules?.creatorOf(message.contextId);
  if (header === undefined && !isInMetadata && creator === undefined) return { request, callPath: NO_CALL_PATH };
  const named = joinCallPaths(header === undefined ? NO_CALL_PATH : parseCallPath(header), callPathIn(metadata));
  // An agent on the way kept only the context.
  const callPath = creator === undefined ? named : joinCallPaths(named, [creator]);
  refuseLoop(service, callPath, callPaths);
  return { request: isInMetadata ? { ...request, metadata: withoutCallPath(metadata) } : request, callPath };
}

interface Carried {
  readonly header: string | undefined;
  readonly callPaths: CallPathRules;
  readonly rules: AncestryRules;
}

/** Reads the ancestry of a message that an agent sends. */
async function acceptAncestry(
  service: CallPathReceiver,
  request: SendRequest,
  { header, callPaths, rules }: Carried,
): Promise<AcceptedRequest> {
  const { [CALLS]: _own, ...metadata } = request.metadata;
  const field = `metadata["${CALLS}"].ancestry`;
  const text = ancestryTextIn(request.metadata);
  if (text === undefined) throw invalidField(field, "must be a text");
  const read = await rules.read(text, request.message.messageId);
  if ("problem" in read) throw invalidField(field, read.problem);
  const named = joinCallPaths(header === undefined ? NO_CALL_PATH : parseCallPath(header), callPathIn(metadata));
  const creator = request.message.contextId === undefined ? undefined : rules.creatorOf(request.message.contextId);
  const path = joinCallPaths(joinCallPaths(read.path, named), creator === undefined ? NO_CALL_PATH : [creator]);
  const ancestry: Ancestry = { ...read, path, depth: Math.max(read.depth, path.length) };
  refuseLoop(service, path, callPaths);
  const { depth: most } = rules.limitsOf(service.agent.id);
  if (ancestry.depth > most) {
    throw new A2AError(
      "loop-detected",
      `Loop detected: ${ancestry.depth} calls led to the message; at most ${most} are allowed`,
      {
        metadata: { depth: String(ancestry.depth), maxDepth: String(most) },
      },
    );
  }
  refuseUsedUp(ancestry);
  return { request: { ...request, metadata: withoutCallPath(metadata) }, callPath: path, ancestry };
}

function refuseUsedUp({ deadline, budget }: Ancestry): void {
  if (deadline !== undefined && deadline <= Date.now())
    throw new A2AError("resource-exhausted", "The time of the calling task is over");
  if ((budget?.tokens ?? 1) <= 0 || (budget?.cost ?? 1) <= 0)
    throw new A2AError("resource-exhausted", "The budget of the calling task is used up");
}

function refuseLoop(
  { agent }: CallPathReceiver,
  callPath: CallPath,
  { serverId, maxHops, ancestry }: CallPathRules,
): void {
  const mayRepeat = ancestry?.limitsOf(agent.id).cycles === true;
  if (!mayRepeat && callPath.includes(callPathEntry(serverId, agent.id))) {
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
