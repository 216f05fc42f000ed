import type { SecurityScheme } from "../../protocol/card.ts";
import type { OutgoingRequest } from "../http/contract.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import { possibleFlows, type TokenScheme } from "./authorization-server.ts";
import type { CredentialSet } from "./contract.ts";
import { asCookieValue, asHeaderValue, base64, readSecret, type Secret } from "./secret.ts";
import { TokenSource } from "./token-source.ts";

/** How one scheme of a card is met. */
export interface Proof {
  /** What is to be shown now. */
  value(signal: AbortSignal): Promise<string>;
  /** Something else than what was refused; `undefined` where there is nothing else. */
  replace(refused: string, signal: AbortSignal): Promise<string | undefined>;
  /** Puts it on a request. */
  show(request: OutgoingRequest, value: string): void;
  /** Somebody has to agree first, which takes its time. */
  readonly isInteractive?: boolean;
}

export interface SchemeNeed {
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly scopes: readonly string[];
}

/** How the credentials meet a scheme; `undefined` where they do not. */
export function proofFor(need: SchemeNeed, credentials: CredentialSet, fetching: FetchOptions): Proof | undefined {
  const { name, scheme, scopes } = need;
  // Names are the card's: what every object has is not meant by any of them.
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

/** What to show to an agent whose card says nothing of it: all that goes where it goes without being told. */
export function undeclaredProofs(credentials: CredentialSet, fetching: FetchOptions): readonly Proof[] {
  const { apiKey } = credentials;
  const identity = bearerProof(credentials, { fetching, scopes: [] }) ?? basicProof(credentials);
  return [
    ...(identity === undefined ? [] : [identity]),
    ...(isKeyWithPlace(apiKey) ? [keyProof({ in: apiKey.in, name: apiKey.name }, apiKey.value)] : []),
  ];
}

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

interface TokenNeed {
  readonly scheme?: TokenScheme;
  readonly scopes: readonly string[];
  readonly fetching: FetchOptions;
}

/** A token that is at hand; or one that can be had from where the caller says. */
function bearerProof(credentials: CredentialSet, need: TokenNeed): Proof | undefined {
  if (credentials.bearer !== undefined) return headerProof("Bearer", credentials.bearer);
  return tokenProof(credentials, { scopes: need.scopes, fetching: need.fetching });
}

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
  // The names of the two everybody knows are written as everybody writes them.
  const known = ["Bearer", "Basic"].find((name) => name.toLowerCase() === scheme.toLowerCase()) ?? scheme;
  return {
    ...secretProof(secret),
    show: ({ headers }, value) => headers.set("authorization", asHeaderValue(`${known} ${value}`)),
  };
}

function secretProof(secret: Secret): Pick<Proof, "value" | "replace"> {
  return {
    value: () => readSecret(secret),
    async replace(refused) {
      const value = await readSecret(secret);
      return value === refused ? undefined : value;
    },
  };
}
