import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from "jose";
import { fetchJson } from "./fetch-json.ts";
import { cannotVerify } from "./request-credentials.ts";

/** Finds the public key that a token's header names. */
export type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Where the keys are, and how often they may be fetched. */
export interface RemoteKeySetOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Minimum milliseconds between fetches caused by unknown key ids. Default 30 000. */
  readonly cooldown?: number;
}

/** Milliseconds after which keys are fetched again. */
const MAX_AGE = 600_000;
/** Milliseconds for which old keys are used if fetching fails. */
const MAX_STALE = 3_600_000;
/** The default of `cooldown`. Without it, tokens with invented key ids would cause a request each. */
const COOLDOWN = 30_000;
/** Milliseconds after a failed fetch before the next one, so that an unreachable issuer is not asked for every token. */
const FAILURE_COOLDOWN = 5000;

/** The keys of an issuer: fetched on demand, once for all waiting callers, cached for 10 minutes, and fetched again for an unknown key id. */
export function createRemoteKeySet(options: RemoteKeySetOptions): FindKey {
  const { now, cooldown = COOLDOWN } = options;
  let keys: { readonly find: FindKey; readonly fetchedAt: number } | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let fetching: Promise<void> | undefined;

  const refresh = async (): Promise<void> => {
    if (failure !== undefined && now() - failure.at < FAILURE_COOLDOWN) throw cannotVerify(failure.error);
    fetching ??= fetchKeySet(options)
      .then(async (set) => (await import("jose")).createLocalJWKSet(set))
      .then(
        (find) => {
          keys = { find, fetchedAt: now() };
          failure = undefined;
        },
        (error: unknown) => {
          failure = { error, at: now() };
          throw cannotVerify(error);
        },
      )
      .finally(() => {
        fetching = undefined;
      });
    await fetching;
  };
  const current = async (): Promise<NonNullable<typeof keys>> => {
    const age = keys === undefined ? Number.POSITIVE_INFINITY : now() - keys.fetchedAt;
    if (age >= MAX_AGE) {
      await refresh().catch((error: unknown) => {
        if (age >= MAX_STALE) throw error;
      });
    }
    if (keys === undefined) throw cannotVerify();
    return keys;
  };
  return async (header) => {
    const { find, fetchedAt } = await current();
    try {
      return await find(header);
    } catch (error) {
      const { errors } = await import("jose");
      if (!(error instanceof errors.JWKSNoMatchingKey) || now() - fetchedAt < cooldown) throw error;
      await refresh();
      return (await current()).find(header);
    }
  };
}

async function fetchKeySet({ url, fetch }: RemoteKeySetOptions): Promise<JSONWebKeySet> {
  const { keys }: { readonly keys?: unknown } = await fetchJson(url, fetch);
  if (!Array.isArray(keys)) throw new TypeError("The document is not a JSON Web Key Set.");
  // Each key is checked when it is used.
  return { keys: keys as JSONWebKeySet["keys"] };
}
