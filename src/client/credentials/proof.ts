import type { SecurityScheme } from "../../protocol/card.ts";
import type { OutgoingRequest } from "../http/contract.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import { possibleFlows, type TokenScheme } from "./authorization-server.ts";
import type { CredentialSet } from "./contract.ts";
import { asCookieValue, asHeaderValue, base64, readSecret, type Secret } from "./secret.ts";
import { TokenSource } from "./token-source.ts";

/** The credential for one security scheme of a card. */
export interface Proof {
  /** The current value. */
  value(signal: AbortSignal): Promise<string>;
  /** Another value than the rejected one; `undefined` if there is none. */
  replace(refused: string, signal: AbortSignal): Promise<string | undefined>;
  /** Adds the value to a request. */
  show(request: OutgoingRequest, value: string): void;
  /** A user has to agree first. */
  readonly isInteractive?: boolean;
}

/** A scheme of the card, with its name there and the scopes that the card requires. */
export interface SchemeNeed {
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** The credential for a scheme; `undefined` if the credentials do not satisfy it. */
export function proofFor(need: SchemeNeed, credentials: CredentialSet, fetching: FetchOptions): Proof | undefined {
  const { name, scheme, scopes } = need;
  // The card chooses the names: inherited members such as `toString` must not match.
  const own = Object.hasOwn(credentials.schemes ?? {}, name) ? credentials.schemes?.[name] : undefined;
  switch (scheme.type) {
    case "apiKey": {
      const { apiKey } = credentials;
      const key = own ?? (isKeyWithPlace(apiKey) ? apiKey.value : apiKey);
      return key === undefined ? undefined : keyProof(scheme, key);
    }
    case "http": {
      if (own !== undefined) return headerProof(scheme.scheme, own);
      if (scheme.scheme.toLowerCase() === "basic") return basicProof(credentials);
      return scheme.scheme.toLowerCase() === "bearer" ? bearerProof(credentials, { fetching, scopes }) : undefined;
    }
    case "oauth2":
    case "openIdConnect":
      if (own !== undefined) return headerProof("Bearer", own);
      return tokenProof(credentials, { scheme, fetching, scopes }) ?? bearerProof(credentials, { fetching, scopes });
    case "mutualTLS":
      return credentials.mutualTls === true ? NOTHING_TO_SHOW : undefined;
  }
}

/** The credentials for an agent without a card: those whose place is clear without one. */
export function undeclaredProofs(credentials: CredentialSet, fetching: FetchOptions): readonly Proof[] {
  const { apiKey } = credentials;
  const identity = bearerProof(credentials, { fetching, scopes: [] }) ?? basicProof(credentials);
  return [
    ...(identity === undefined ? [] : [identity]),
    ...(isKeyWithPlace(apiKey) ? [keyProof({ in: apiKey.in, name: apiKey.name }, apiKey.value)] : []),
  ];
}

/** A client certificate: the TLS connection presents it, not the request. */
const NOTHING_TO_SHOW: Proof = {
  value: async () => "",
  replace: async () => undefined,
  show: () => {},
};

type KeyPlace = Pick<Extract<SecurityScheme, { readonly type: "apiKey" }>, "in" | "name">;

function isKeyWithPlace(key: CredentialSet["apiKey"]): key is Exclude<CredentialSet["apiKey"], Secret | undefined> {
  return typeof key === "object";
}

function keyProof({ in: place, name }: KeyPlace, key: Secret): Proof {
  return {
    ...secretProof(key),
    show({ url, headers }, value) {
      if (place === "query") url.searchParams.set(name, value);
      else if (place === "header") headers.set(name, asHeaderValue(value));
      else headers.set("cookie", withCookie(headers.get("cookie"), `${name}=${asCookieValue(value)}`));
    },
  };
}

function withCookie(others: string | null, cookie: string): string {
  return others === null ? cookie : `${others}; ${cookie}`;
}

function basicProof({ basic }: CredentialSet): Proof | undefined {
  if (basic === undefined) return undefined;
  const { username, password } = basic;
  return headerProof("Basic", async () => base64(`${username}:${await readSecret(password)}`));
}

/** Which token is needed. `scheme` is absent if no card names an authorization server: then the caller's settings must. */
interface TokenNeed {
  readonly scheme?: TokenScheme;
  readonly scopes: readonly string[];
  readonly fetching: FetchOptions;
}

/** A given bearer token, or one from the authorization server that the caller names. */
function bearerProof(credentials: CredentialSet, need: TokenNeed): Proof | undefined {
  if (credentials.bearer !== undefined) return headerProof("Bearer", credentials.bearer);
  return tokenProof(credentials, { scopes: need.scopes, fetching: need.fetching });
}

/** `undefined` if no flow is possible: another credential may still satisfy the scheme. */
function tokenProof({ oauth2 }: CredentialSet, { scheme, scopes, fetching }: TokenNeed): Proof | undefined {
  if (oauth2 === undefined) return undefined;
  const [flow] = possibleFlows(scheme, oauth2);
  if (flow === undefined) return undefined;
  const source = new TokenSource({ scheme, flow, credentials: oauth2, scopes, fetching });
  return {
    value: (signal) => source.token(signal),
    replace: (refused, signal) => source.replace(refused, signal),
    show: ({ headers }, token) => headers.set("authorization", asHeaderValue(`Bearer ${token}`)),
    isInteractive: source.isInteractive,
  };
}

function headerProof(scheme: string, secret: Secret): Proof {
  // Write the two common schemes in their usual case; some servers compare case-sensitively.
  const known = ["Bearer", "Basic"].find((name) => name.toLowerCase() === scheme.toLowerCase()) ?? scheme;
  return {
    ...secretProof(secret),
    show: ({ headers }, value) => headers.set("authorization", asHeaderValue(`${known} ${value}`)),
  };
}

/** After a rejection the secret is read again: a function may return a new one. */
function secretProof(secret: Secret): Pick<Proof, "value" | "replace"> {
  return {
    value: () => readSecret(secret),
    async replace(refused) {
      const value = await readSecret(secret);
      return value === refused ? undefined : value;
    },
  };
}
