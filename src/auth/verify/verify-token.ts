import type { JWTPayload } from "jose";
import { A2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Verified } from "./contract.ts";
import type { FindKey } from "./key-set.ts";
import { tokenRefusal } from "./refusal.ts";
import { badCredentials } from "./request-credentials.ts";

/** The rules for accepting tokens, and the claims to read from them. */
export interface TokenRules {
  /** Accepted values of `aud`: one of these. */
  readonly audience: string | readonly string[];
  /** Accepted signature algorithms. Default: all of RSA, ECDSA and EdDSA. Algorithms with a shared secret are never accepted. */
  readonly algorithms?: readonly string[];
  /** Seconds by which clocks may differ. Default 60. */
  readonly clockSkew?: number;
  /** The claim that identifies the caller. Default `sub`. */
  readonly subjectClaim?: string;
  /** The claim with the scopes, as a list or separated by spaces. Default `scope`, else `scp`. */
  readonly scopesClaim?: string;
  /** The claim with the caller's tenant; a token without this claim is then invalid. Default: callers have no tenant. */
  readonly tenantClaim?: string;
  /** Milliseconds since the epoch. Default: the system's time. */
  readonly now?: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
}

const ALGORITHMS = [
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
];
/** Seconds. More would keep expired tokens valid for long. */
const MAX_SKEW = 600;

/** Throws a `TypeError` for rules that would accept tokens they should not. */
export function checkTokenRules({ audience, algorithms = ALGORITHMS, clockSkew = 0 }: TokenRules): void {
  const audiences = typeof audience === "string" ? [audience] : audience;
  if (audiences.length === 0 || audiences.some((name) => typeof name !== "string" || name === "")) {
    throw new TypeError("audience: must not be empty, or tokens for other services would be accepted.");
  }
  const unfit = algorithms.filter((name) => !ALGORITHMS.includes(name));
  if (unfit.length > 0 || algorithms.length === 0) {
    throw new TypeError(`algorithms: must be of ${ALGORITHMS.join(", ")}, not ${unfit.join(", ") || "none"}.`);
  }
  if (!(clockSkew >= 0 && clockSkew <= MAX_SKEW)) {
    throw new TypeError(`clockSkew: must be a number of seconds from 0 to ${MAX_SKEW}.`);
  }
}

/** The rules, the issuer that the token must name, and its keys. */
export interface TokenCheck {
  readonly rules: TokenRules;
  readonly issuer: string;
  readonly findKey: FindKey;
}

/** Verifies a token and returns its caller. Throws as a `Verifier` does. */
export async function verifyToken(token: string, { rules, issuer, findKey }: TokenCheck): Promise<Verified> {
  const { audience, algorithms = ALGORITHMS, clockSkew = 60, now = Date.now } = rules;
  const subjectClaim = rules.subjectClaim ?? "sub";
  try {
    const { jwtVerify } = await import("jose");
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
    // A failure to fetch keys is an `A2AError` already. Any other error means that the token, or the key it names, is invalid.
    throw error instanceof A2AError ? error : badCredentials(tokenRefusal(error), error);
  }
}

/** A token without the required claims is invalid, however well it is signed. */
function verifiedBy(payload: JWTPayload, { subjectClaim = "sub", scopesClaim, tenantClaim }: TokenRules): Verified {
  const id = payload[subjectClaim];
  const tenant = tenantClaim === undefined ? undefined : payload[tenantClaim];
  if (typeof id !== "string" || id === "") throw badCredentials("missing-claim");
  if (tenantClaim !== undefined && (typeof tenant !== "string" || tenant === "")) throw badCredentials("missing-claim");
  const scopes = scopesOf(scopesClaim === undefined ? (payload["scope"] ?? payload["scp"]) : payload[scopesClaim]);
  const { jti } = payload;
  return {
    id,
    scopes,
    // Safe: the payload was parsed from JSON.
    claims: payload as JsonObject,
    ...(typeof jti === "string" && { credential: jti }),
    ...(typeof tenant === "string" && { tenant }),
  };
}

/** `"a b"` (RFC 8693 §4.2) and `["a", "b"]` become `["a", "b"]`. */
function scopesOf(claim: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(claim) ? claim : typeof claim === "string" ? claim.split(" ") : [];
  return [...new Set(listed.filter((scope) => typeof scope === "string" && scope !== ""))] as string[];
}
