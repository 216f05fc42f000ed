import { createLocalJWKSet, type JSONWebKeySet } from "jose";
import { bearerChallenge } from "./challenge.ts";
import type { Verifier } from "./contract.ts";
import { createRemoteKeySet, type FindKey } from "./key-set.ts";
import { shownByScheme } from "./shown-credentials.ts";
import { checkTokenRules, type TokenRules, verifyToken } from "./verify-token.ts";

export interface JwtRules extends TokenRules {
  /** As tokens name it in `iss`, exactly. */
  readonly issuer: string;
}

export interface RemoteKeys {
  /** Where the issuer has its public keys. */
  readonly jwksUrl: string;
  /** Fetches them. */
  readonly fetch: typeof fetch;
}

export interface GivenKeys {
  /** The issuer's public keys. */
  readonly jwks: { readonly keys: readonly object[] };
}

/** Callers show a JSON Web Token of one issuer, signed with one of its keys. Throws a `TypeError` for options that make no sense. */
export function jwtBearer(options: JwtRules & (RemoteKeys | GivenKeys)): Verifier {
  checkTokenRules(options);
  // An empty one would not be looked at.
  if (typeof options.issuer !== "string" || options.issuer === "") {
    throw new TypeError("issuer: say whose tokens count, or everybody's would who shares its keys.");
  }
  const { issuer, monotonic = () => performance.now() } = options;
  const findKey =
    "jwks" in options
      ? localKeySet(options.jwks)
      : createRemoteKeySet({ url: options.jwksUrl, fetch: options.fetch, now: monotonic });
  return {
    scheme: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    challenge: bearerChallenge,
    async verify(request) {
      const token = shownByScheme(request, "Bearer");
      return token === undefined ? undefined : verifyToken(token, { rules: options, issuer, findKey });
    },
  };
}

function localKeySet({ keys }: { readonly keys: readonly object[] }): FindKey {
  for (const key of keys) {
    const { kty, d } = key as { readonly kty?: unknown; readonly d?: unknown }; // Looked at, not trusted.
    if (kty === "oct" || d !== undefined) {
      throw new TypeError("jwks: public keys only; a secret that verifies tokens could make them as well.");
    }
  }
  return createLocalJWKSet({ keys } as JSONWebKeySet);
}
