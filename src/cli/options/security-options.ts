import type { Command } from "commander";
import { apiKeyFile } from "../../platform/security/api-keys.ts";
import { keyFileBeside } from "../../platform/security/api-keys-file.ts";
import { jwtBearer, openIdConnect } from "../../platform/security/security-issuers.ts";
import { clientCertificates } from "../../platform/security/security-settings.ts";
import type { ServeOptions } from "../../platform/serve.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { messageOf, StartupError } from "../../platform/startup-error.ts";

/** Part of the help of commands that serve agents. */
export const SECURITY_ENVIRONMENT = `\
  API_KEYS_FILE       as --keys
  JWT_ISSUER, JWT_AUDIENCE, JWKS_URL
                      as --jwt-issuer, --jwt-audience, --jwks-url
  OIDC_URL, OIDC_AUDIENCE
                      as --oidc, --audience
  TLS_CERT, TLS_KEY, TLS_CLIENT_CA
                      as --tls-cert, --tls-key, --tls-client-ca
  AUDIT_LOG           as --audit-log
`;

/** As Commander parses the flags of `addSecurityOptions`. */
export interface SecurityFlags {
  readonly apiKeys?: boolean | undefined;
  readonly keys?: string | undefined;
  readonly jwtIssuer?: string | undefined;
  readonly jwtAudience?: string | undefined;
  readonly jwksUrl?: string | undefined;
  readonly oidc?: string | undefined;
  readonly audience?: string | undefined;
  readonly privateCards?: boolean | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsClientCa?: string | undefined;
  readonly auditLog?: string | undefined;
}

/** Adds the options for authentication, TLS and the audit log. */
export function addSecurityOptions(command: Command): void {
  command
    .option("--api-keys", "require an API key, made with palaver keys add")
    .option("--keys <file>", "file of these keys (default: keys.json beside the store); implies --api-keys")
    .option("--jwt-issuer <url>", "require a JWT from this issuer")
    .option("--jwt-audience <name>", "required audience (aud) of these JWTs")
    .option("--jwks-url <url>", "URL of the issuer's public keys (default: ISSUER/.well-known/jwks.json)")
    .option("--oidc <url>", "require a token from this OpenID Connect provider")
    .option("--audience <name>", "required audience (aud) of these tokens")
    .option("--private-cards", "show agent cards only to authenticated callers")
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM)")
    .option("--tls-key <file>", "private key of that certificate (PEM)")
    .option(
      "--tls-client-ca <file>",
      "accept client certificates from this authority (PEM); required if no other authentication is set up",
    )
    .option("--audit-log <file>", "append every call and every rejected call to this file, as JSON lines");
}

/** Separates the security flags from all others. */
export function apartFromSecurity<Flags extends SecurityFlags>(
  flags: Flags,
): { readonly security: SecurityFlags; readonly shared: Omit<Flags, keyof SecurityFlags> } {
  const {
    apiKeys,
    keys,
    jwtIssuer,
    jwtAudience,
    jwksUrl,
    oidc,
    audience,
    privateCards,
    tlsCert,
    tlsKey,
    tlsClientCa,
    auditLog,
    ...shared
  } = flags;
  const issuers = { jwtIssuer, jwtAudience, jwksUrl, oidc, audience };
  return { security: { apiKeys, keys, ...issuers, privateCards, tlsCert, tlsKey, tlsClientCa, auditLog }, shared };
}

/** What the security options depend on besides the flags. `env` defaults to the environment of the process. */
export interface SecurityContext {
  readonly store: ServeOptions["store"];
  readonly logger: ServeOptions["logger"];
  readonly env?: NodeJS.ProcessEnv;
}

/** The security options from flags and environment. If several schemes are configured, a caller needs any one of them. */
export function securityOptionsFrom(
  flags: SecurityFlags,
  { store, logger, env = process.env }: SecurityContext,
): Pick<ServeOptions, "security" | "tls" | "audit"> {
  const flagOrVariable = (flag: string | undefined, name: string): string | undefined =>
    flag ?? (env[name] || undefined);
  const beside = keyFileBeside(typeof store === "string" ? store : DEFAULT_STORE);
  const keyFile = flagOrVariable(flags.keys, "API_KEYS_FILE") ?? (flags.apiKeys === true ? beside : undefined);
  const issuer = flagOrVariable(flags.jwtIssuer, "JWT_ISSUER");
  const oidc = flagOrVariable(flags.oidc, "OIDC_URL");
  const clientCa = flagOrVariable(flags.tlsClientCa, "TLS_CLIENT_CA");
  const tls = tlsFrom(flagOrVariable(flags.tlsCert, "TLS_CERT"), flagOrVariable(flags.tlsKey, "TLS_KEY"), clientCa);
  const jwksUrl = flagOrVariable(flags.jwksUrl, "JWKS_URL");
  const jwtAudience = flagOrVariable(flags.jwtAudience, "JWT_AUDIENCE");
  const audience = flagOrVariable(flags.audience, "OIDC_AUDIENCE");
  // An incomplete scheme must not leave the server without authentication.
  if (issuer === undefined) {
    forbid(jwtAudience, "--jwt-audience", "--jwt-issuer");
    forbid(jwksUrl, "--jwks-url", "--jwt-issuer");
  }
  if (oidc === undefined) forbid(audience, "--audience", "--oidc");
  const schemes = sensible(() => ({
    ...(keyFile !== undefined && { apiKey: apiKeyFile({ file: keyFile, logger }) }),
    ...(issuer !== undefined && {
      bearer: jwtBearer({
        issuer,
        audience: needed(jwtAudience, "--jwt-issuer", "--jwt-audience"),
        jwksUrl: jwksUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/jwks.json`,
      }),
    }),
    ...(oidc !== undefined && {
      openId: openIdConnect({ url: oidc, audience: needed(audience, "--oidc", "--audience") }),
    }),
    ...(clientCa !== undefined && { mutualTls: clientCertificates() }),
  }));
  const isOpen = Object.keys(schemes).length === 0;
  if (isOpen && flags.privateCards === true) {
    throw new StartupError(
      "usage",
      "--private-cards needs authentication: add --api-keys, --jwt-issuer, --oidc or --tls-client-ca.",
    );
  }
  const cards = flags.privateCards === true ? "private" : "public";
  return {
    security: isOpen ? undefined : { schemes, cards },
    tls,
    audit: flagOrVariable(flags.auditLog, "AUDIT_LOG"),
  };
}

/** `undefined`: plain HTTP. */
function tlsFrom(cert: string | undefined, key: string | undefined, clientCa: string | undefined): ServeOptions["tls"] {
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new StartupError("usage", "HTTPS needs both --tls-cert and --tls-key.");
  }
  return { cert, key, clientCa };
}

/** The value, or a {@link StartupError} that explains the danger. */
function needed(value: string | undefined, flag: string, missing: string): string {
  if (value !== undefined) return value;
  throw new StartupError(
    "usage",
    `${flag} needs ${missing}: without it, tokens meant for other services would be accepted.`,
  );
}

function forbid(value: string | undefined, flag: string, missing: string): void {
  if (value !== undefined)
    throw new StartupError("usage", `${flag} needs ${missing}: without it, tokens are not checked.`);
}

/** Turns errors of verifiers into usage errors. */
function sensible<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError("usage", messageOf(error), { cause: error });
  }
}
