import type { SecurityScheme } from "../../protocol/card.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** A client's certificate, which the connection has checked already. */
export interface ClientCertificate {
  /** The distinguished name, such as `CN=agent,O=Acme`. */
  readonly subject: string;
  readonly commonName: string | undefined;
  /** `DNS:…`, `URI:…` and the like. */
  readonly alternativeNames: readonly string[];
  /** SHA-256 in upper-case hexadecimal with colons. */
  readonly fingerprint: string;
}

/** What a verifier sees of a request. A web `Request` has most of it. */
export interface CredentialSource {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The caller's network address, where known. */
  readonly remote?: string | undefined;
  /** Where the caller has shown one that is trusted. */
  readonly certificate?: ClientCertificate | undefined;
}

/** Whom a verifier has recognised. */
export interface Verified {
  /** Unique and lasting within the scheme. */
  readonly id: string;
  readonly scopes: readonly string[];
  readonly claims?: JsonObject;
  /** Which of the caller's credentials these are, for the audit log: an id, never a secret. */
  readonly credential?: string;
  /** The only tenant this caller may name, where its credentials say so. */
  readonly tenant?: string;
}

/**
 * One way to say who one is: how cards declare it, and how a request is checked against it. `verify` resolves with `undefined` where the
 * request shows nothing of this kind; it throws an `A2AError` `unauthenticated` where it shows something that does not hold (the message must
 * not tell why in a way that helps guessing), and `unavailable` where that cannot be found out now.
 */
export interface Verifier {
  readonly scheme: SecurityScheme;
  /** The value of `WWW-Authenticate` that asks for it; `undefined`: HTTP has no word for it. */
  challenge(problem?: ChallengeProblem): string | undefined;
  verify(request: CredentialSource): Promise<Verified | undefined>;
}

export interface ChallengeProblem {
  readonly error: "invalid_token" | "insufficient_scope";
  readonly scopes?: readonly string[];
}
