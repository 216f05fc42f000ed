import { bearerChallenge } from "./challenge.ts";
import type { Verifier } from "./contract.ts";
import { fetchJson } from "./fetch-json.ts";
import { createRemoteKeySet, type FindKey } from "./key-set.ts";
import { cannotVerify, credentialsByScheme } from "./request-credentials.ts";
import { checkTokenRules, type TokenRules, verifyToken } from "./verify-token.ts";

/** Which provider's tokens are accepted. */
export interface OpenIdRules extends TokenRules {
  /** The issuer's URL, or the URL of its discovery document (`…/.well-known/openid-configuration`). */
  readonly url: string;
  /** Fetches the document and the keys. */
  readonly fetch: typeof fetch;
}

const DOCUMENT = "/.well-known/openid-configuration";
/** Milliseconds after which the discovery document is fetched again, and the minimum pause after a failure. */
const MAX_AGE = 3_600_000;
const FAILURE_COOLDOWN = 5000;

/** Bearer authentication with tokens of an OpenID provider. Its keys are found through its discovery document. */
export function openIdConnect(options: OpenIdRules): Verifier {
  checkTokenRules(options);
  const issuer = options.url.endsWith(DOCUMENT) ? options.url.slice(0, -DOCUMENT.length) : options.url;
  const { protocol } = new URL(issuer);
  if (!/^https?:$/.test(protocol)) throw new TypeError("url: must be the http or https URL of an OpenID provider.");
  const url = issuer.replace(/\/$/, "") + DOCUMENT;
  const provider = createProvider({ ...options, issuer, url });
  return {
    scheme: { type: "openIdConnect", openIdConnectUrl: url },
    challenge: bearerChallenge,
    async verify(request) {
      const token = credentialsByScheme(request, "Bearer");
      if (token === undefined) return undefined;
      return verifyToken(token, { rules: options, ...(await provider()) });
    },
  };
}

/** What the discovery document says. `issuer` is as the document writes it, because tokens repeat it exactly. */
interface Provider {
  readonly issuer: string;
  readonly findKey: FindKey;
}

/** The discovery document, fetched once for all waiting callers. */
function createProvider(
  options: OpenIdRules & { readonly issuer: string; readonly url: string },
): () => Promise<Provider> {
  const { fetch, monotonic: now = () => performance.now() } = options;
  let known: (Provider & { readonly keysUrl: string; readonly fetchedAt: number }) | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let fetching: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    try {
      const { issuer, keysUrl } = await discover(options, fetch);
      // Keep the cached keys if their URL has not changed.
      const findKey = known?.keysUrl === keysUrl ? known.findKey : createRemoteKeySet({ url: keysUrl, fetch, now });
      known = { issuer, keysUrl, findKey, fetchedAt: now() };
      failure = undefined;
    } catch (error) {
      failure = { error, at: now() };
    }
  };
  return async () => {
    const isFresh = known !== undefined && now() - known.fetchedAt < MAX_AGE;
    const isWarned = failure !== undefined && now() - failure.at < FAILURE_COOLDOWN;
    if (!isFresh && !isWarned) {
      fetching ??= refresh().finally(() => {
        fetching = undefined;
      });
      await fetching;
    }
    if (known === undefined) throw cannotVerify(failure?.error);
    return known;
  };
}

/** Tokens must name the configured issuer; the document must name the same. A trailing slash is ignored. */
async function discover(
  { url, issuer: expected }: { readonly url: string; readonly issuer: string },
  fetch: typeof globalThis.fetch,
): Promise<{ readonly issuer: string; readonly keysUrl: string }> {
  const { issuer, jwks_uri: keysUrl } = await fetchJson(url, fetch);
  if (typeof issuer !== "string" || issuer.replace(/\/$/, "") !== expected.replace(/\/$/, "")) {
    throw new TypeError(`${url} names another issuer than the configured one.`);
  }
  if (typeof keysUrl !== "string" || URL.parse(keysUrl) === null) throw new TypeError(`${url} has no valid jwks_uri.`);
  // Without TLS anybody could answer: only a provider that is itself configured with http may use an http key URL.
  if (new URL(url).protocol === "https:" && new URL(keysUrl).protocol !== "https:") {
    throw new TypeError(`${url} has a jwks_uri that is not https.`);
  }
  return { issuer, keysUrl };
}
