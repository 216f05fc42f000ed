import { type JWTPayload, jwtVerify } from "jose";
import { A2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Verified } from "./contract.ts";
import type { FindKey } from "./key-set.ts";
import { badCredentials } from "./shown-credentials.ts";

/** What a token must say, and where it says what. */
export interface TokenRules {
  /** Whom tokens must be for: one of these. */
  readonly audience: string | readonly string[];
  /** Signature algorithms that count. Default: those of RSA, ECDSA and EdDSA. Ones with a shared secret never do. */
  readonly algorithms?: readonly string[];
  /** Seconds by which clocks may differ. Default 60. */
  readonly clockSkew?: number;
  /** Names the caller. Default `sub`. */
  readonly subjectClaim?: string;
  /** Holds scopes, as a list or separated by spaces. Default `scope`, else `scp`. */
  readonly scopesClaim?: string;
  /** Holds the one tenant the caller belongs to; a token without it does not hold then. Default: callers belong to none. */
  readonly tenantClaim?: string;
  /** Milliseconds since the epoch. Default: the system's time. */
  readonly now?: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic?: () => number;
}

const ALGORITHMS = [
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
];
const MAX_SKEW = 600;

/** Throws a `TypeError` for rules under which tokens would be worth nothing. */
export function checkTokenRules({ audience, algorithms = ALGORITHMS, clockSkew = 0 }: TokenRules): void {
  const audiences = typeof audience === "string" ? [audience] : audience;
  if (audiences.length === 0 || audiences.some((name) => typeof name !== "string" || name === "")) {
    throw new TypeError("audience: say for whom tokens must be, or those for anybody else would count here.");
  }
  const unfit = algorithms.filter((name) => !ALGORITHMS.includes(name));
  if (unfit.length > 0 || algorithms.length === 0) {
    throw new TypeError(`algorithms: must be of ${ALGORITHMS.join(", ")}, not ${unfit.join(", ") || "none"}.`);
  }
  if (!(clockSkew >= 0 && clockSkew <= MAX_SKEW)) {
    throw new TypeError(`clockSkew: a number of seconds up to ${MAX_SKEW}.`);
  }
}

export interface TokenCheck {
  readonly rules: TokenRules;
  readonly issuer: string;
  readonly findKey: FindKey;
}

/** Whom a token names. Throws as a `Verifier` does. */
export async function verifyToken(token: string, { rules, issuer, findKey }: TokenCheck): Promise<Verified> {
  const { audience, algorithms = ALGORITHMS, clockSkew = 60, now = Date.now } = rules;
  const subjectClaim = rules.subjectClaim ?? "sub";
  try {
    const { payload } = await jwtVerify(token, findKey, {
      issuer,
      audience: typeof audience === "string" ? audience : [...audience],
      algorithms: [...algorithms],
      clockTolerance: clockSkew,
      currentDate: new Date(now()),
      requiredClaims: ["exp", subjectClaim],
    });
    return verifiedBy(payload, rules);
  } catch (error) {
    // Keys that could not be fetched are an `A2AError` already. All else is the fault of the token or of the key it names.
    throw error instanceof A2AError ? error : badCredentials(error);
  }
}

function verifiedBy(payload: JWTPayload, { subjectClaim = "sub", scopesClaim, tenantClaim }: TokenRules): Verified {
  const id = payload[subjectClaim];
  const tenant = tenantClaim === undefined ? undefined : payload[tenantClaim];
  if (typeof id !== "string" || id === "") throw badCredentials();
  if (tenantClaim !== undefined && (typeof tenant !== "string" || tenant === "")) throw badCredentials();
  const scopes = scopesOf(scopesClaim === undefined ? (payload["scope"] ?? payload["scp"]) : payload[scopesClaim]);
  const { jti } = payload;
  return {
    id,
    scopes,
    // Safe: it was read from JSON.
    claims: payload as JsonObject,
    ...(typeof jti === "string" && { credential: jti }),
    ...(typeof tenant === "string" && { tenant }),
  };
}

function scopesOf(claim: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(claim) ? claim : typeof claim === "string" ? claim.split(" ") : [];
  return [...new Set(listed.filter((scope) => typeof scope === "string" && scope !== ""))] as string[];
}
