import { RemoteError } from "../http/errors.ts";
import { tokenAddress } from "./authorization-server.ts";
import type { AuthorizationCodeSteps, Token } from "./contract.ts";
import { base64Url, redacted } from "./secret.ts";
import { requestToken, scopeParameter, type TokenContext } from "./token-request.ts";

/** Gets a token with the authorization code flow: RFC 6749 §4.1 with PKCE (RFC 7636). Resolves when the user has agreed in the browser. */
export async function requestPersonToken(context: TokenContext, steps: AuthorizationCodeSteps): Promise<Token> {
  const { redirectUri, open } = steps;
  const verifier = randomText();
  const state = randomText();
  const url = await authorizationUrl(context, { redirectUri, verifier, state });
  const sentTo = await open(url, { signal: context.fetching.signal });
  const code = codeFrom(sentTo, { state, issuer: context.server.issuer });
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
  return requestToken(form, context);
}

/**
 * The values of one login. `state` and `verifier` are random, so that a code of another login cannot be used (RFC 7636, RFC 6749 §10.12).
 */
interface Request {
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
}

async function authorizationUrl(context: TokenContext, { redirectUri, verifier, state }: Request): Promise<string> {
  const { server, credentials, scopes } = context;
  const url = tokenAddress(server.authorizationUrl ?? "", credentials);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const parameters = {
    ...credentials.parameters,
    response_type: "code",
    client_id: credentials.clientId,
    redirect_uri: redirectUri,
    ...scopeParameter(scopes),
    state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** What the redirect must contain to belong to this login. `issuer` is checked if the server names it (RFC 9207). */
interface Expected {
  readonly state: string;
  readonly issuer: string | undefined;
}

/** The code in the URL that the browser was redirected to. Throws `no-credentials` if it does not belong to this request. */
function codeFrom(sentTo: string, { state, issuer }: Expected): string {
  const parameters = URL.canParse(sentTo) ? new URL(sentTo).searchParams : undefined;
  if (parameters?.get("state") !== state) {
    throw new RemoteError("no-credentials", "The browser returned with the state of another login.");
  }
  const from = parameters.get("iss");
  if (from !== null && issuer !== undefined && from !== issuer) {
    throw new RemoteError("no-credentials", "The browser returned from another authorization server.");
  }
  const error = parameters.get("error");
  if (error !== null) {
    const words = [error, parameters.get("error_description") ?? ""].filter((part) => part !== "").join(", ");
    throw new RemoteError("no-credentials", `The authorization server refused: ${redacted(words, [state])}.`);
  }
  const code = parameters.get("code");
  if (code === null || code === "") throw new RemoteError("no-credentials", "The browser returned without a code.");
  return code;
}

/** 43 characters from 256 random bits: the shortest verifier that RFC 7636 §4.1 allows. */
function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}
