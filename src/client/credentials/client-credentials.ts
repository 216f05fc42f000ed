import type { Token } from "./contract.ts";
import { requestToken, scopeParameter, type TokenContext } from "./token-request.ts";

/** Gets a token with the client credentials flow (RFC 6749 §4.4). */
export function requestClientToken(context: TokenContext): Promise<Token> {
  return requestToken({ grant_type: "client_credentials", ...scopeParameter(context.scopes) }, context);
}
