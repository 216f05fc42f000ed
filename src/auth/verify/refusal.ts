import { A2AError } from "../../protocol/error.ts";

/** Why credentials were refused. For logs and metrics only: an answer that contained it would help guessing. */
export const REFUSAL_REASONS = [
  "missing",
  "malformed",
  "expired",
  "not-yet-valid",
  "wrong-audience",
  "wrong-issuer",
  "missing-claim",
  "unknown-key-id",
  "wrong-signature",
  "algorithm-not-allowed",
  "unknown-key",
  "wrong-secret",
  "revoked",
  "wrong-password",
  "certificate-not-allowed",
  "insufficient-scope",
  "unverifiable",
  "other",
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** The cause of an error that refuses credentials. It never contains the credentials. */
export class CredentialsRefused extends Error {
  override readonly name = "CredentialsRefused";
  readonly reason: RefusalReason;

  /** `details`: the message, such as the reason of each security scheme. Default: the reason. */
  constructor(reason: RefusalReason, options: { readonly details?: string; readonly cause?: unknown } = {}) {
    super(options.details ?? reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
  }
}

/** Why an error refused the caller's credentials; `undefined` if it did not. */
export function refusalOf(error: unknown): CredentialsRefused | undefined {
  if (!(error instanceof A2AError)) return undefined;
  if (error.cause instanceof CredentialsRefused) return error.cause;
  return error.code === "unauthenticated" ? new CredentialsRefused("other") : undefined;
}

/** Why the token library refused a token. */
export function tokenRefusal(error: unknown): RefusalReason {
  const { code, claim, reason } = typeof error === "object" && error !== null ? (error as TokenError) : {};
  switch (code) {
    case "ERR_JWT_EXPIRED":
      return "expired";
    case "ERR_JWT_CLAIM_VALIDATION_FAILED":
      if (reason === "missing") return "missing-claim";
      if (claim === "aud") return "wrong-audience";
      if (claim === "iss") return "wrong-issuer";
      return claim === "nbf" || claim === "iat" ? "not-yet-valid" : "other";
    case "ERR_JWKS_NO_MATCHING_KEY":
    case "ERR_JWKS_MULTIPLE_MATCHING_KEYS":
      return "unknown-key-id";
    case "ERR_JWS_SIGNATURE_VERIFICATION_FAILED":
      return "wrong-signature";
    case "ERR_JOSE_ALG_NOT_ALLOWED":
    case "ERR_JOSE_NOT_SUPPORTED":
      return "algorithm-not-allowed";
    case "ERR_JWS_INVALID":
    case "ERR_JWT_INVALID":
      return "malformed";
    default:
      return "other";
  }
}

/** The members of the library's errors that are read. */
interface TokenError {
  readonly code?: unknown;
  readonly claim?: unknown;
  readonly reason?: unknown;
}
