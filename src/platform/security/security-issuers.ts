import type { Verifier } from "../../auth/verify/contract.ts";
import {
  type GivenKeys,
  type JwtRules,
  type RemoteKeys,
  jwtBearer as verifyJwt,
} from "../../auth/verify/jwt-bearer.ts";
import { type OpenIdRules, openIdConnect as verifyOpenId } from "../../auth/verify/open-id-connect.ts";
import { createOutgoing } from "../../outgoing/create-outgoing.ts";

/** Fetches go out through the guard of this server, unless a `fetch` is given. */
type Fetching<T extends { readonly fetch: typeof fetch }> = Omit<T, "fetch"> & Partial<Pick<T, "fetch">>;

export type JwtBearerOptions = JwtRules & (Fetching<RemoteKeys> | GivenKeys);
export type OpenIdConnectOptions = Fetching<OpenIdRules>;

/** Callers show a JSON Web Token of one issuer, signed with one of its keys. Throws a `TypeError` for options that make no sense. */
export function jwtBearer(options: JwtBearerOptions): Verifier {
  return verifyJwt("jwksUrl" in options ? { fetch: issuerFetch(options.jwksUrl), ...options } : options);
}

/** Callers show a token of an OpenID provider, whose keys are found through its discovery document. */
export function openIdConnect(options: OpenIdConnectOptions): Verifier {
  return verifyOpenId({ fetch: issuerFetch(options.url), ...options });
}

/**
 * Goes out through the same guard as everything else. The host that is configured may be reached wherever it is, and by `http` if it
 * is so configured; what the issuer names besides must be on the public internet.
 */
function issuerFetch(address: string): typeof fetch {
  const url = URL.parse(address);
  if (url === null) throw new TypeError(`${JSON.stringify(address)} is not the address of an issuer.`);
  const port = url.port === "" ? (url.protocol === "http:" ? "80" : "443") : url.port;
  const outgoing = createOutgoing({ http: url.protocol === "http:", allow: [`${url.hostname}:${port}`] });
  return (input, init) => outgoing.fetch(input, init);
}
