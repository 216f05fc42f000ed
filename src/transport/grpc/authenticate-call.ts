import { A2AError } from "../../protocol/error.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { Service } from "../../server/service.ts";
import { authenticateExchange } from "../authentication.ts";
import { countRequest } from "../call/serve-call.ts";
import type { Endpoint } from "../endpoint.ts";
import { callerKey } from "../rate-limit/request-limits.ts";
import type { AuthenticationGroups } from "./authentication-groups.ts";
import type { GrpcCall } from "./grpc-call.ts";

/**
 * Authenticates the caller before its message is read. If only the message names the agent, it is enough that one agent accepts the caller;
 * {@link callAgent} then authenticates it for the named agent.
 */
export async function authenticateCall({ environment }: Endpoint, call: GrpcCall): Promise<Principal> {
  const { exchange, service, groups } = call;
  const own = groupOf(groups, service);
  const candidates = call.isAgentInMessage ? new Set([own, ...groups.values()]) : [own];
  let refusal: unknown;
  for (const agent of candidates) {
    try {
      const principal = await authenticateExchange(exchange, agent, environment);
      call.authenticatedFor = agent;
      return principal;
    } catch (error) {
      if (refusal === undefined || isUnavailable(error)) refusal = error;
    }
  }
  throw refusal;
}

/** Calls the agent that the message names. Authenticates the caller again if that agent's callers are authenticated in another way. */
export async function callAgent(endpoint: Endpoint, call: GrpcCall, service: Service): Promise<void> {
  const { environment } = endpoint;
  const { exchange, groups, principal } = call;
  call.service = service;
  const group = groupOf(groups, service);
  if (environment.authenticate === undefined || group === call.authenticatedFor) return;
  call.principal = await authenticateExchange(exchange, group, environment);
  call.authenticatedFor = group;
  const remote = environment.remoteOf(exchange);
  if (callerKey(call.principal, remote) !== callerKey(principal, remote)) countRequest(endpoint, call);
}

function groupOf(groups: AuthenticationGroups, { agent }: Service): string {
  return groups.get(agent.id) ?? agent.id;
}

/** The caller may try again, which another refusal would not tell it. */
function isUnavailable(error: unknown): boolean {
  return error instanceof A2AError && error.code === "unavailable";
}
