import * as base64url from "jose/base64url";
import { challengeOf } from "./challenge.ts";
import type { Verified, Verifier } from "./contract.ts";
import { fromBase64Url, sameBytes, sha256 } from "./digest.ts";
import { badCredentials, credentialAt, type KeyPlace } from "./request-credentials.ts";

/** A stored API key, without its secret. Times are ISO 8601. */
export interface StoredApiKey {
  /** The public part of the key's text. */
  readonly id: string;
  /** A name for people. */
  readonly name: string;
  /** SHA-256 of the secret, in base64url. The secret is 256 random bits, so it needs no slow hash. */
  readonly hash: string;
  /** The owner of tasks that callers with this key create. */
  readonly owner: string;
  /** The only tenant that the key is valid for. Absent: any. */
  readonly tenant?: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  /** Absent: never. */
  readonly expiresAt?: string;
  /** Present: the key is invalid from then on. */
  readonly revokedAt?: string;
}

/** Where requests have the key. */
interface Place {
  /** Default `header`. */
  readonly in?: KeyPlace["in"];
  /** Default `X-API-Key`. */
  readonly name?: string;
}

/** For keys that this package created. */
export interface IssuedApiKeysOptions extends Place {
  /** Keys from {@link createApiKey}. */
  readonly find: (id: string) => StoredApiKey | undefined | Promise<StoredApiKey | undefined>;
  /** Milliseconds since the epoch. Default: the system's time. */
  readonly now?: () => number;
}

/** For keys of another system. */
export interface ForeignApiKeysOptions extends Place {
  /** Finds the owner of a key that was created elsewhere; `undefined` if the key is unknown. */
  readonly verify: (key: string) => Verified | undefined | Promise<Verified | undefined>;
}

/** Either `find` or `verify`. */
export type ApiKeysOptions = IssuedApiKeysOptions | ForeignApiKeysOptions;

/** `plv_`, the id in 16 hexadecimal digits, and 256 random bits in base64url. */
const KEY = /^plv_([0-9a-f]{16})_([\w-]{43})$/;

/** Authentication with an API key in a header, a query parameter or a cookie. */
export function apiKeys(options: ApiKeysOptions): Verifier {
  const place: KeyPlace = { in: options.in ?? "header", name: options.name ?? "X-API-Key" };
  const holderOf = "verify" in options ? options.verify : (key: string) => issuedHolder(key, options);
  return {
    scheme: { type: "apiKey", ...place },
    // No registered HTTP scheme exists for API keys; the parameters are named as in the card.
    challenge: () => challengeOf("ApiKey", { ...place }),
    async verify(request) {
      const key = credentialAt(request, place);
      if (key === undefined) return undefined;
      const holder = await holderOf(key);
      if (holder === undefined) throw badCredentials("unknown-key");
      return holder;
    },
  };
}

/** Creates a key: the record to store, and the key's text, which cannot be recovered later. */
export async function createApiKey(
  of: Pick<StoredApiKey, "name" | "owner" | "tenant" | "scopes" | "createdAt" | "expiresAt">,
): Promise<{ readonly key: string; readonly stored: StoredApiKey }> {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
  return { key: `plv_${id}_${secret}`, stored: { id, ...of, hash: base64url.encode(await sha256(secret)) } };
}

/** The secret is hashed before the key is looked up, so that an unknown id takes about as long as a wrong secret. */
async function issuedHolder(key: string, { find, now = Date.now }: IssuedApiKeysOptions): Promise<Verified> {
  const [, id, secret] = KEY.exec(key) ?? [];
  if (id === undefined || secret === undefined) throw badCredentials("malformed");
  const digest = await sha256(secret);
  const stored = await find(id);
  const expected = stored === undefined ? undefined : fromBase64Url(stored.hash);
  if (stored === undefined || expected === undefined) throw badCredentials("unknown-key");
  if (!sameBytes(digest, expected)) throw badCredentials("wrong-secret");
  if (stored.revokedAt !== undefined) throw badCredentials("revoked");
  if (hasExpired(stored, now())) throw badCredentials("expired");
  const { owner, scopes, tenant, name } = stored;
  return { id: owner, scopes, claims: { key: id, name }, credential: id, ...(tenant !== undefined && { tenant }) };
}

/** An invalid time counts as expired. */
export function hasExpired({ expiresAt }: Pick<StoredApiKey, "expiresAt">, now: number): boolean {
  return expiresAt !== undefined && !(Date.parse(expiresAt) > now);
}
