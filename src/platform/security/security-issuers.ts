import type { Verifier } from "../../auth/verify/contract.ts";
import {
  type GivenKeys,
  type JwtRules,
  type RemoteKeys,
  jwtBearer as verifyJwt,
} from "../../auth/verify/jwt-bearer.ts";
import { type OpenIdRules, openIdConnect as verifyOpenId } from "../../auth/verify/open-id-connect.ts";
import { createOutgoing } from "../../outgoing/create-outgoing.ts";

/** `fetch` is optional: by default the server's guarded `fetch` is used. */
type Fetching<T extends { readonly fetch: typeof fetch }> = Omit<T, "fetch"> & Partial<Pick<T, "fetch">>;

/** Options of `jwtBearer`: the rules for tokens, and either a JWKS URL or the keys. */
export type JwtBearerOptions = JwtRules & (Fetching<RemoteKeys> | GivenKeys);
/** Options of `openIdConnect`. */
export type OpenIdConnectOptions = Fetching<OpenIdRules>;

/** Verifies JSON Web Tokens of one issuer, sent as bearer tokens. Throws a `TypeError` for invalid options. */
export function jwtBearer(options: JwtBearerOptions): Verifier {
  return verifyJwt("jwksUrl" in options ? { fetch: issuerFetch(options.jwksUrl), ...options } : options);
}

/** Verifies tokens of an OpenID Connect provider. Its keys are found through its discovery document. Throws a `TypeError` for invalid options. */
export function openIdConnect(options: OpenIdConnectOptions): Verifier {
  return verifyOpenId({ fetch: issuerFetch(options.url), ...options });
}

/**
 * The guarded `fetch` of the server. The configured host is always allowed, also with `http` if it is configured so. Other hosts that the issuer
 * names must be on the public internet.
 */
function issuerFetch(address: string): typeof fetch {
  const url = URL.parse(address);
  if (url === null) throw new TypeError(`${JSON.stringify(address)} is not the URL of an issuer.`);
  const port = url.port === "" ? (url.protocol === "http:" ? "80" : "443") : url.port;
  const outgoing = createOutgoing({ http: url.protocol === "http:", allow: [`${url.hostname}:${port}`] });
  return (input, init) => outgoing.fetch(input, init);
}
