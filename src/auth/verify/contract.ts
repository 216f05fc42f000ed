import type { SecurityScheme } from "../../protocol/card.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** A client certificate that the TLS connection has verified. */
export interface ClientCertificate {
  /** The distinguished name, such as `CN=agent,O=Acme`. */
  readonly subject: string;
  /** The `CN` of the subject; `undefined` if it has none. */
  readonly commonName: string | undefined;
  /** `DNS:…`, `URI:…` and the like. */
  readonly alternativeNames: readonly string[];
  /** SHA-256 in upper-case hexadecimal with colons. */
  readonly fingerprint: string;
}

/** The parts of a request that verifiers read. A web `Request` has most of them. */
export interface CredentialSource {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The caller's network address, if known. */
  readonly remote?: string | undefined;
  /** The caller's certificate, if it has one that the connection trusts. */
  readonly certificate?: ClientCertificate | undefined;
}

/** A caller with valid credentials. */
export interface Verified {
  /** Identifies the caller within the scheme, permanently. */
  readonly id: string;
  /** Permissions, for the policies of the server. */
  readonly scopes: readonly string[];
  /** Further facts, passed on to the agent as `caller.claims`. */
  readonly claims?: JsonObject;
  /** Identifies the credentials in the audit log, such as a key id. Never a secret. */
  readonly credential?: string;
  /** The only tenant that this caller may use. Absent: the credentials do not restrict it. */
  readonly tenant?: string;
}

/**
 * One way to authenticate: how cards declare it, and how requests are verified. `verify` resolves with `undefined` if the request has no
 * credentials of this kind. It throws an `A2AError`: `unauthenticated` for invalid credentials (the message must not help guessing),
 * `unavailable` if they cannot be verified now.
 */
export interface Verifier {
  /** The declaration for the agent card. */
  readonly scheme: SecurityScheme;
  /** The `WWW-Authenticate` value that asks for these credentials; `undefined` if HTTP has none. */
  challenge(problem?: ChallengeProblem): string | undefined;
  verify(request: CredentialSource): Promise<Verified | undefined>;
}

/** Why the caller gets a challenge although it sent credentials (RFC 6750 §3.1). `scopes`: those that the request needs. */
export interface ChallengeProblem {
  readonly error: "invalid_token" | "insufficient_scope";
  readonly scopes?: readonly string[];
}
