import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { A2AError } from "../protocol/error.ts";
import { digestOf } from "./body-digest.ts";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { FindKey } from "./verify/key-set.ts";

/** What a notification's signature says, once it is known to hold. */
export interface NotificationClaims {
  readonly issuer: string;
  readonly taskId: string;
  readonly jti: string;
  /** When the signature ceases to count, in milliseconds since 1970, clock skew included. */
  readonly until: number;
}

export type SignatureProblem =
  | "bad-signature"
  | "unknown-key"
  | "keys-unavailable"
  | "wrong-audience"
  | "too-old"
  | "too-new"
  | "wrong-body";

export interface NotificationCheck {
  readonly issuer: string;
  readonly findKey: FindKey;
  /** Whether a notification for that address is for us. */
  readonly isAudience: (audience: string) => boolean;
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** For how many milliseconds after it was made a signature counts at most. */
  readonly maxAge: number;
  /** By how many milliseconds clocks may differ. */
  readonly clockSkew: number;
}

/** Whom a token claims to be from, before anything of it is believed; `undefined` where it is no token. */
export function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === "string" && iss !== "" ? iss : undefined;
  } catch {
    // Whoever sent it knows why; the receiver has no use for it.
    return undefined;
  }
}

/** Checks the signature that came with a notification. */
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

function problemOf(error: unknown): SignatureProblem {
  if (error instanceof errors.JWTExpired) return "too-old";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknown-key";
  if (error instanceof A2AError && error.code === "unavailable") return "keys-unavailable";
  return "bad-signature";
}
