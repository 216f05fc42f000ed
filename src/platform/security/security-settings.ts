import type { Verifier } from "../../auth/verify/contract.ts";
import { mutualTls } from "../../auth/verify/mutual-tls.ts";
import { createSecurity, type Security } from "../../server/security.ts";
import type { ServerOptions } from "../settings/settings.ts";
import { messageOf, StartupError } from "../startup-error.ts";
import type { ServingTls } from "./security-tls.ts";

/** Security as the options have it. Throws a {@link StartupError} for what makes no sense. */
export function securityFrom({ security, authenticate }: ServerOptions): Security | undefined {
  if (security === undefined) return undefined;
  if (authenticate !== undefined) {
    throw new StartupError(
      "usage",
      "Both `security` and `authenticate` say who calls. Give one of them: a scheme of your own is a verifier in `security.schemes`.",
    );
  }
  try {
    return createSecurity(security);
  } catch (error) {
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}

/** Callers may show a certificate that the listener trusts, and are known by its subject. */
export function clientCertificates(): Verifier {
  return mutualTls();
}

/** Throws where callers are to show certificates that nobody asks them for. */
export function requireClientCertificates(security: Security | undefined, tls: ServingTls | undefined): void {
  const named = Object.entries(security?.schemes ?? {}).find(([, { type }]) => type === "mutualTLS");
  if (named === undefined || tls?.ca !== undefined) return;
  throw new StartupError(
    "usage",
    `The scheme ${JSON.stringify(named[0])} needs callers' certificates.\n` +
      "Give `tls` with a `clientCa` (--tls-cert, --tls-key, --tls-client-ca), or mount the server where TLS ends.",
  );
}
