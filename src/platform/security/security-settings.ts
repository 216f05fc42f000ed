import type { Verifier } from "../../auth/verify/contract.ts";
import { mutualTls } from "../../auth/verify/mutual-tls.ts";
import { createSecurity, type Security } from "../../server/security.ts";
import type { ServerOptions } from "../settings/settings.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import type { ServingTls } from "./security-tls.ts";

/** The security options, validated. Throws a {@link StartupError} for invalid ones. */
export function securityFrom({ security, authenticate }: ServerOptions): Security | undefined {
  if (security === undefined) return undefined;
  if (authenticate !== undefined) {
    throw new StartupError(
      "usage",
      "`security` and `authenticate` exclude each other. Use only one: a custom scheme is a verifier in `security.schemes`.",
    );
  }
  try {
    return createSecurity(security);
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

/** Callers may use a client certificate that the listener trusts; its subject identifies them. */
export function clientCertificates(): Verifier {
  return mutualTls();
}

/** Throws if a scheme needs client certificates but the listener does not request them. */
export function requireClientCertificates(security: Security | undefined, tls: ServingTls | undefined): void {
  const named = Object.entries(security?.schemes ?? {}).find(([, { type }]) => type === "mutualTLS");
  if (named === undefined || tls?.ca !== undefined) return;
  throw new StartupError(
    "usage",
    `The scheme ${JSON.stringify(named[0])} needs client certificates.\n` +
      "Set `tls` with a `clientCa` (--tls-cert, --tls-key, --tls-client-ca), or mount the server in an application that terminates TLS.",
  );
}
