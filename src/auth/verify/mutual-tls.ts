import { challengeOf } from "./challenge.ts";
import type { ClientCertificate, Verified, Verifier } from "./contract.ts";
import { badCredentials } from "./request-credentials.ts";

/** Which certificates are accepted, and which callers they identify. The TLS connection has checked the chain already. */
export interface MutualTlsOptions {
  /** Which trusted certificates are accepted: fingerprints, or a function. Default: all. */
  readonly allow?: readonly string[] | ((certificate: ClientCertificate) => boolean);
  /** The part of the certificate that identifies the caller. Default `subject`. */
  readonly idFrom?: "subject" | "commonName" | "fingerprint" | ((certificate: ClientCertificate) => string | undefined);
  /** Scopes granted to these callers. Default: none. */
  readonly scopes?: readonly string[] | ((certificate: ClientCertificate) => readonly string[]);
}

/** Authentication with a client certificate (mutual TLS). The TLS server must request certificates and know the trusted authorities. */
export function mutualTls(options: MutualTlsOptions = {}): Verifier {
  const { allow, idFrom = "subject", scopes = [] } = options;
  const allowed = typeof allow === "function" ? allow : allowedFingerprints(allow);
  const idOf = typeof idFrom === "function" ? idFrom : (certificate: ClientCertificate) => certificate[idFrom];
  return {
    scheme: { type: "mutualTLS" },
    // No registered HTTP scheme exists for mutual TLS, but a 401 must have a challenge (RFC 9110 §15.5.2).
    challenge: () => challengeOf("MutualTLS"),
    verify: async ({ certificate }): Promise<Verified | undefined> => {
      if (certificate === undefined) return undefined;
      const id = allowed(certificate) ? idOf(certificate) : undefined;
      if (id === undefined || id === "") throw badCredentials("certificate-not-allowed");
      const { subject, fingerprint } = certificate;
      const claims = { subject, fingerprint };
      const granted = typeof scopes === "function" ? scopes(certificate) : scopes;
      return { id, scopes: granted, claims, credential: fingerprint };
    },
  };
}

/** Accepts fingerprints with or without colons, in either case. */
function allowedFingerprints(list: readonly string[] | undefined): (certificate: ClientCertificate) => boolean {
  if (list === undefined) return () => true;
  const known = new Set(list.map((fingerprint) => fingerprint.toUpperCase().replaceAll(/[^0-9A-F]/g, "")));
  return ({ fingerprint }) => known.has(fingerprint.replaceAll(":", ""));
}
