import { A2AError } from "../../protocol/error.ts";
import { ANONYMOUS, type Principal } from "../../protocol/principal.ts";
import { authenticateExchange } from "../authentication.ts";
import type { Exchange, Headers } from "../exchange.ts";
import type { AuthenticationGroups } from "../grpc/authentication-groups.ts";
import { rateLimited, rateLimitHeaders } from "../rate-limit/rate-limit-headers.ts";
import type { McpFace } from "./face.ts";

/** The caller of one HTTP request. */
export interface AuthenticatedCaller {
  readonly principal: Principal;
  callerOf(agent: string): Promise<Principal>;
  /** The caller's rate limit, sent with every answer. */
  readonly limitHeaders: Headers;
}

/**
 * Authenticates the caller before its request is read: only the request names the agent, so it is enough that one agent accepts the caller; the called agent
 * authenticates it again if its callers are authenticated in another way. Then counts the request. Rejects with `unauthenticated`, `rate-limited` and so on.
 */
export async function authenticateCaller(
  { endpoint, agents }: McpFace,
  exchange: Exchange,
  groups: AuthenticationGroups,
): Promise<AuthenticatedCaller> {
  const { environment } = endpoint;
  const groupOf = (agent: string): string => groups.get(agent) ?? agent;
  const known = new Map<string, Promise<Principal>>();
  const callerOf = (agent: string): Promise<Principal> => {
    if (environment.authenticate === undefined) return Promise.resolve(ANONYMOUS);
    const group = groupOf(agent);
    const found = known.get(group) ?? authenticateExchange(exchange, group, environment);
    known.set(group, found);
    return found;
  };
  const principal = await firstAccepted(agents, callerOf);
  const remote = environment.remoteOf(exchange);
  const allowance = environment.requestLimits?.ofPrincipal(principal, remote);
  if (allowance !== undefined && !allowance.allowed) throw rateLimited(allowance);
  const limitHeaders = allowance === undefined ? {} : rateLimitHeaders(allowance, Date.now());
  return { principal, callerOf, limitHeaders };
}

async function firstAccepted(
  agents: readonly string[],
  callerOf: (agent: string) => Promise<Principal>,
): Promise<Principal> {
  let refusal: unknown;
  for (const agent of agents) {
    try {
      return await callerOf(agent);
    } catch (error) {
      // The caller may try again, which another refusal would not tell it.
      const isUnavailable = error instanceof A2AError && error.code === "unavailable";
      if (refusal === undefined || isUnavailable) refusal = error;
    }
  }
  throw refusal;
}
