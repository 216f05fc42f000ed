import type { ChallengeProblem } from "./contract.ts";

/** A value of `WWW-Authenticate`: the scheme's name and its parameters, quoted. */
export function challengeOf(scheme: string, parameters: Readonly<Record<string, string>> = {}): string {
  const listed = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return listed.length === 0 ? scheme : `${scheme} ${listed.join(", ")}`;
}

/** What RFC 6750 has callers with a token told of what is wrong with it. */
export function bearerChallenge(problem: ChallengeProblem | undefined): string {
  if (problem === undefined) return "Bearer";
  const { error, scopes = [] } = problem;
  return challengeOf("Bearer", { error, ...(scopes.length > 0 && { scope: scopes.join(" ") }) });
}

/** The challenge as one of this realm, which comes first. */
export function withRealm(challenge: string, realm: string): string {
  const space = challenge.indexOf(" ");
  const named = challengeOf(space === -1 ? challenge : challenge.slice(0, space), { realm });
  return space === -1 ? named : `${named}, ${challenge.slice(space + 1)}`;
}

/** Headers hold visible ASCII. */
function quotable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/["\\]/g, "\\$&");
}
