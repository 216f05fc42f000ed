import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters } from "jose";
import { fetchJson } from "./fetch-json.ts";
import { cannotVerify } from "./shown-credentials.ts";

/** Finds the public key that a token's header names. */
export type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>;

export interface RemoteKeySetOptions {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** A key that is not known is looked for at most this often, whoever names it; in ms. Default 30 000. */
  readonly cooldown?: number;
}

/** After how long keys are fetched anew, in ms. */
const MAX_AGE = 600_000;
/** How long keys go on to count when they cannot be fetched. */
const MAX_STALE = 3_600_000;
const COOLDOWN = 30_000;
/** How long a failure is remembered, so that an issuer which is down is not asked for every token. */
const FAILURE_COOLDOWN = 5000;

/** The keys of an issuer: fetched when needed, once for all who wait, kept for ten minutes, and looked up again for a key that is new. */
export function createRemoteKeySet(options: RemoteKeySetOptions): FindKey {
  const { now, cooldown = COOLDOWN } = options;
  let keys: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly fetchedAt: number } | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let fetching: Promise<void> | undefined;

  const refresh = async (): Promise<void> => {
    if (failure !== undefined && now() - failure.at < FAILURE_COOLDOWN) throw cannotVerify(failure.error);
    fetching ??= fetchKeySet(options)
      .then(createLocalJWKSet)
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
      if (!(error instanceof errors.JWKSNoMatchingKey) || now() - fetchedAt < cooldown) throw error;
      await refresh();
      return (await current()).find(header);
    }
  };
}

async function fetchKeySet({ url, fetch }: RemoteKeySetOptions): Promise<JSONWebKeySet> {
  const { keys }: { readonly keys?: unknown } = await fetchJson(url, fetch);
  if (!Array.isArray(keys)) throw new TypeError("There is no key set at this address.");
  // What each key holds is looked at when it is used.
  return { keys: keys as JSONWebKeySet["keys"] };
}
