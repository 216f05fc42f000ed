import type { JSONWebKeySet } from "jose";
import { bearerChallenge } from "./challenge.ts";
import type { Verifier } from "./contract.ts";
import { createRemoteKeySet, type FindKey } from "./key-set.ts";
import { credentialsByScheme } from "./request-credentials.ts";
import { checkTokenRules, type TokenRules, verifyToken } from "./verify-token.ts";

/** Which tokens are accepted. */
export interface JwtRules extends TokenRules {
  /** The exact `iss` of accepted tokens. */
  readonly issuer: string;
}

/** Keys that the issuer publishes. They are fetched when the first token arrives, and cached for 10 minutes. */
export interface RemoteKeys {
  /** The URL of the issuer's key set. */
  readonly jwksUrl: string;
  /** Fetches the key set. Default: the platform's `fetch`. */
  readonly fetch: typeof fetch;
}

/** Keys that never change while the server runs. */
export interface GivenKeys {
  /** The issuer's public keys. */
  readonly jwks: { readonly keys: readonly object[] };
}

/** Bearer authentication with JSON Web Tokens of one issuer. Throws a `TypeError` for invalid options. */
export function jwtBearer(options: JwtRules & (RemoteKeys | GivenKeys)): Verifier {
  checkTokenRules(options);
  // The token library would not check an empty issuer.
  if (typeof options.issuer !== "string" || options.issuer === "") {
    throw new TypeError("issuer: must not be empty, or tokens of every issuer with the same keys would be accepted.");
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
      const token = credentialsByScheme(request, "Bearer");
      return token === undefined ? undefined : verifyToken(token, { rules: options, issuer, findKey });
    },
  };
}

/** Throws a `TypeError` for private and shared keys. */
function localKeySet({ keys }: { readonly keys: readonly object[] }): FindKey {
  for (const key of keys) {
    const { kty, d } = key as { readonly kty?: unknown; readonly d?: unknown }; // Looked at, not trusted.
    if (kty === "oct" || d !== undefined) {
      throw new TypeError(
        "jwks: must contain only public keys; with a shared secret, everybody who can verify tokens could issue them.",
      );
    }
  }
  let find: FindKey | undefined;
  return async (header) => {
    const { createLocalJWKSet } = await import("jose");
    find ??= createLocalJWKSet({ keys } as JSONWebKeySet);
    return find(header);
  };
}
