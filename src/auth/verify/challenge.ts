import type { ChallengeProblem } from "./contract.ts";

/** A `WWW-Authenticate` value: the name of the scheme and its quoted parameters: `ApiKey in="header", name="X-API-Key"`. */
export function challengeOf(scheme: string, parameters: Readonly<Record<string, string>> = {}): string {
  const listed = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return listed.length === 0 ? scheme : `${scheme} ${listed.join(", ")}`;
}

/** The parameters that describe a problem with a bearer token (RFC 6750 §3). */
export function bearerChallenge(problem: ChallengeProblem | undefined): string {
  if (problem === undefined) return "Bearer";
  const { error, scopes = [] } = problem;
  return challengeOf("Bearer", { error, ...(scopes.length > 0 && { scope: scopes.join(" ") }) });
}

/**
 * Adds the realm as the first parameter of a challenge.
 * `Bearer error="invalid_token"` becomes `Bearer realm="echo", error="invalid_token"`.
 */
export function withRealm(challenge: string, realm: string): string {
  const space = challenge.indexOf(" ");
  const named = challengeOf(space === -1 ? challenge : challenge.slice(0, space), { realm });
  return space === -1 ? named : `${named}, ${challenge.slice(space + 1)}`;
}

/** Replaces characters that are not visible ASCII, which headers must not contain. */
function quotable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/["\\]/g, "\\$&");
}
