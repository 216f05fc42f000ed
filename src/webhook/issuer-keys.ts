import { createRemoteKeySet, type FindKey } from "../auth/verify/key-set.ts";
import type { TrustedIssuer, WebhookOptions } from "./contract.ts";

/** Finds the keys of a token's issuer; `undefined` if the issuer is not trusted. */
export type FindIssuer = (issuer: string) => Promise<FindKey | undefined>;

/** The most issuers whose keys are kept: if a function decides, strangers must not fill the memory. */
const MAX_ISSUERS = 100;

/**
 * Minimum milliseconds between fetches for an unknown key. A sender that changes its key right after a fetch is refused until the next one,
 * which must come before its last attempt: with the default pauses, the last attempt starts more than 15 s after the first.
 */
const COOLDOWN = 10_000;

/** Key sets by URL. */
export type KeyCache = Map<string, FindKey>;

/** One function object, so that it can be the key of a cache. Browsers reject `fetch` with another receiver than the global object. */
export const PLATFORM_FETCH: typeof fetch = (input, init) => fetch(input, init);

/** Throws a `TypeError` for an issuer without a usable key URL. Keys are fetched when the first token of an issuer arrives. */
export function createIssuerKeys(options: WebhookOptions, cache: KeyCache = new Map()): FindIssuer {
  const { issuers = [], fetch: fetchKeys = PLATFORM_FETCH } = options;
  const keysAt = (url: string): FindKey => {
    const known = cache.get(url);
    if (known !== undefined) return known;
    const keys = createRemoteKeySet({ url, fetch: fetchKeys, now: () => performance.now(), cooldown: COOLDOWN });
    const [oldest] = cache.keys();
    if (cache.size >= MAX_ISSUERS && oldest !== undefined) cache.delete(oldest);
    cache.set(url, keys);
    return keys;
  };
  if (typeof issuers === "function") {
    return async (issuer) => {
      const url = keysUrl(issuer);
      return url !== undefined && (await issuers(issuer)) ? keysAt(url) : undefined;
    };
  }
  const trusted = new Map(issuers.map(placeOf));
  return async (issuer) => {
    const url = trusted.get(withoutSlash(issuer));
    return url === undefined ? undefined : keysAt(url);
  };
}

function placeOf(entry: string | TrustedIssuer): readonly [issuer: string, url: string] {
  const { issuer: named, jwksUrl }: TrustedIssuer = typeof entry === "string" ? { issuer: entry } : entry;
  const issuer = withoutSlash(named);
  const url = jwksUrl ?? keysUrl(issuer);
  if (url === undefined || !URL.canParse(url)) {
    throw new TypeError(`issuers: ${JSON.stringify(issuer)} must be an https URL, or have a jwksUrl.`);
  }
  return [issuer, url];
}

/** The URL of an issuer's keys; `undefined` if it is neither https nor local, since an attacker could replace the keys. */
function keysUrl(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "")
    return undefined;
  const isSafe =
    url.protocol === "https:" ||
    (url.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname));
  return isSafe ? `${withoutSlash(issuer)}/.well-known/jwks.json` : undefined;
}

function withoutSlash(url: string): string {
  return url.endsWith("/") ? url.slice(0, -1) : url;
}
