import { A2AError } from "../../protocol/error.ts";
import type { Principal } from "../../protocol/principal.ts";
import { type Policy, policyAllows } from "../../server/policy.ts";
import type { Security } from "../../server/security.ts";
import { incomingRequest } from "../authentication.ts";
import type { ConsoleSessions } from "../console/console-sessions.ts";
import type { Exchange } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";
import { bearerToken, isSameToken } from "./bearer-token.ts";
import { isFromOtherOrigin, isLocalRequest } from "./local-request.ts";

/** Who may use the operator API. */
export interface OperatorAccess {
  /** The token for requests from this machine. Absent: none are accepted. */
  readonly token?: string | undefined;
  /** Pages of the console on this machine. Absent: the console is turned off. */
  readonly sessions?: ConsoleSessions | undefined;
  /** Callers that `security` authenticates and that satisfy `policy` may use the API from anywhere. Absent: nobody else. */
  readonly remote?: { readonly security: Security; readonly policy: OperatorPolicy } | undefined;
}

/** What a caller needs to use the operator API from another machine. */
export type OperatorPolicy = Pick<Policy, "scopes" | "claims">;

/** The caller with the token of this machine. */
const OPERATOR: Principal = { id: "operator", anonymous: false };

/** The operator who sends a request. Rejects with `unauthenticated`, `permission-denied`, or `unavailable`. */
export async function authenticateOperator(
  access: OperatorAccess,
  exchange: Exchange,
  { remoteOf }: TransportEnvironment,
): Promise<Principal> {
  const { token, sessions, remote } = access;
  if (isFromOtherOrigin(exchange))
    throw new A2AError("permission-denied", "Web pages of other origins may not use the operator API");
  const isLocal = isLocalRequest(exchange);
  if (isLocal && isOperator(bearerToken(exchange), access)) return OPERATOR;
  if (remote !== undefined) {
    const { security, policy } = remote;
    const requirements = Object.keys(security.schemes).map((name) => ({ [name]: [] }));
    const principal = await security.authenticate(incomingRequest(exchange, "", remoteOf(exchange)), requirements);
    if (!principal.anonymous && policyAllows(policy, principal)) return principal;
    throw new A2AError("permission-denied", "The policy of the operator API does not allow this caller");
  }
  if (isLocal && (token !== undefined || sessions !== undefined))
    throw new A2AError("unauthenticated", "The operator API needs the token in the file beside the store");
  throw new A2AError(
    "permission-denied",
    "The operator API answers only programs on this machine. To allow others, set `security` and `operator.policy`.",
  );
}

/** Whether a token is the operator's own, or that of an open page of the console. */
function isOperator(given: string | undefined, { token, sessions }: OperatorAccess): boolean {
  return (token !== undefined && isSameToken(given, token)) || sessions?.isValid(given) === true;
}
