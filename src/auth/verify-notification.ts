import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { A2AError } from "../protocol/error.ts";
import { digestOf } from "./body-digest.ts";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { FindKey } from "./verify/key-set.ts";

/** The claims of a valid notification signature. */
export interface NotificationClaims {
  readonly issuer: string;
  readonly taskId: string;
  readonly jti: string;
  /** When the signature expires, in milliseconds since 1970, clock skew included. */
  readonly until: number;
}

/** Why a signature is not accepted. `bad-signature` also covers malformed tokens and missing claims. */
export type SignatureProblem =
  | "bad-signature"
  | "unknown-key"
  | "keys-unavailable"
  | "wrong-audience"
  | "too-old"
  | "too-new"
  | "wrong-body";

/** What a signature is compared with. */
export interface NotificationCheck {
  /** The required `iss`. */
  readonly issuer: string;
  readonly findKey: FindKey;
  /** True if this URL is one of the receiver's. */
  readonly isAudience: (audience: string) => boolean;
  /** The bytes as received. */
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The most milliseconds for which a signature is valid after its creation. */
  readonly maxAge: number;
  /** Milliseconds by which the clocks of sender and receiver may differ. */
  readonly clockSkew: number;
}

/** The unverified issuer of a token; `undefined` if the text is not a token. */
export function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === "string" && iss !== "" ? iss : undefined;
  } catch {
    // The reason helps only the sender, which has the token; the receiver has no use for it.
    return undefined;
  }
}

/** Verifies the signature of a notification. */
export async function verifyNotification(
  token: string,
  check: NotificationCheck,
): Promise<{ readonly claims: NotificationClaims } | { readonly problem: SignatureProblem }> {
  const { issuer, findKey, isAudience, body, now, maxAge, clockSkew } = check;
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(token, findKey, {
      issuer,
      algorithms: [SIGNING_ALGORITHM],
      requiredClaims: ["aud", "exp", "iat", "jti"],
      clockTolerance: clockSkew / 1000,
      currentDate: new Date(now),
    }));
  } catch (error) {
    return { problem: problemOf(error) };
  }
  const { aud, iat = 0, exp = 0, jti, taskId } = payload;
  if (typeof jti !== "string" || jti === "" || typeof taskId !== "string") return { problem: "bad-signature" };
  if (iat * 1000 > now + clockSkew) return { problem: "too-new" };
  if (iat * 1000 + maxAge + clockSkew < now) return { problem: "too-old" };
  if (typeof aud !== "string" || !isAudience(aud)) return { problem: "wrong-audience" };
  if (payload["request_body_sha256"] !== (await digestOf(body))) return { problem: "wrong-body" };
  const until = Math.min(exp * 1000, iat * 1000 + maxAge) + clockSkew;
  return { claims: { issuer, taskId, jti, until } };
}

/** Errors of the token library, and `unavailable` from the key set. */
function problemOf(error: unknown): SignatureProblem {
  if (error instanceof errors.JWTExpired) return "too-old";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknown-key";
  if (error instanceof A2AError && error.code === "unavailable") return "keys-unavailable";
  return "bad-signature";
}
