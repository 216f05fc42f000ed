import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { PublishedKey } from "../../auth/detached-signature.ts";
import { SIGNING_ALGORITHM, type SigningKey, type SigningKeys } from "../../auth/signing-keys.ts";
import type { Logger } from "../../internal/logger.ts";
import type { Store } from "../../store/contract.ts";
import { StartupError } from "../startup-error.ts";
import { changeKeysFile, generateKey, type KeptKey, type KeyState, readKeysFile } from "./signing-keys-file.ts";

/** A signing key without its secret. Times are ISO 8601. */
export interface SigningKeyInfo {
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: string;
  readonly replacedAt?: string;
  readonly revokedAt?: string;
  /** Whether its public key is published. */
  readonly published: boolean;
}

/** Times, for tests mostly. */
export interface SigningKeyOptions {
  /** Milliseconds for which a replaced key stays published. Default 7 days. */
  readonly retireAfter?: number | undefined;
  /** The current time in milliseconds since 1970. Default: the system clock. */
  readonly now?: (() => number) | undefined;
}

/** Cached cards may still have a signature of the old key. */
const RETIRE_AFTER = 7 * 86_400_000;
/** Milliseconds between checks for changes of the file. */
const RELOAD_INTERVAL = 1000;

/** The file of a store's signing keys; `undefined` if the keys are not stored. */
export function signingFileOf(store: string | Store): string | undefined {
  const file = typeof store === "string" ? /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"] : undefined;
  return file === undefined ? undefined : `${resolve(file)}.signing.json`;
}

/** The keys in a file, newest first; empty if there are none. */
export function listSigningKeys(file: string, options: SigningKeyOptions = {}): readonly SigningKeyInfo[] {
  return (readKeysFile(file) ?? []).map((key) => infoOf(key, options));
}

/** Makes a new current key. The previous one stays published for 7 days. A running server uses the new key within 1 s. */
export function rotateSigningKeys(file: string, options: SigningKeyOptions = {}): SigningKeyInfo {
  const [current] = changeKeysFile(file, (keys = []) => withNewKey(keys, options));
  if (current === undefined) throw new Error("The new signing key is missing.");
  return infoOf(current, options);
}

/** Revokes a key: its signatures are no longer valid. If it is the current key, a new one is made. `undefined` if the key does not exist. */
export function revokeSigningKey(
  file: string,
  kid: string,
  options: SigningKeyOptions = {},
): SigningKeyInfo | undefined {
  if (readKeysFile(file)?.some((key) => key.kid === kid) !== true) return undefined;
  const keys = changeKeysFile(file, (before = []) => withoutKey(before, kid, options));
  const key = keys.find((one) => one.kid === kid);
  return key === undefined ? undefined : infoOf(key, options);
}

/** The keys with one of them revoked. If it is the current key, a new one is made. The same list if it was revoked already, or does not exist. */
export function withoutKey(keys: readonly KeptKey[], kid: string, options: SigningKeyOptions): readonly KeptKey[] {
  const revoked = keys.find((key) => key.kid === kid);
  if (revoked === undefined || revoked.state === "revoked") return keys;
  const after = revoked.state === "current" ? withNewKey(keys, options) : keys;
  const revokedAt = new Date((options.now ?? Date.now)()).toISOString();
  return after.map((key) => (key.kid === kid ? { ...key, state: "revoked" as const, revokedAt } : key));
}

/** Where the keys are stored. */
export interface OpenSigningKeysOptions extends SigningKeyOptions {
  /** Absent: the keys exist only in this process. */
  readonly file?: string | undefined;
  /** Keys that several nodes share, as last read. They replace those of the file. */
  readonly shared?: (() => readonly KeptKey[]) | undefined;
  readonly logger: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: (() => number) | undefined;
}

/** The signing keys of a running server. The first key is made on first use; changes of the file by other processes are noticed. */
export function openSigningKeys(options: OpenSigningKeysOptions): SigningKeys {
  const { file, shared } = options;
  const own = file === undefined ? ephemeralKeys(options) : fileKeys(file, options);
  const keys = shared ?? own;
  return {
    current() {
      const key = keys().find(({ state }) => state === "current");
      if (key === undefined) throw new StartupError("failed", "There is no signing key.");
      return key.jwk;
    },
    published: () =>
      keys()
        .filter((key) => isPublished(key, options))
        .map(({ jwk }) => publicPart(jwk)),
  };
}

/** For stores that are not a SQLite file. After a restart, receivers must fetch the new key. */
function ephemeralKeys(options: SigningKeyOptions): () => readonly KeptKey[] {
  let keys: readonly KeptKey[] | undefined;
  return () => {
    keys ??= withNewKey([], options);
    return keys;
  };
}

/** If the changed file cannot be read, the known keys stay in use: notifications must not stop. */
function fileKeys(file: string, options: OpenSigningKeysOptions): () => readonly KeptKey[] {
  const { logger, monotonic = () => performance.now() } = options;
  let known: readonly KeptKey[] | undefined;
  let version = "";
  let checkedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (known !== undefined && monotonic() - checkedAt < RELOAD_INTERVAL) return known;
    checkedAt = monotonic();
    const found = versionOf(file);
    if (known !== undefined && found === version) return known;
    version = found;
    try {
      known = readKeysFile(file) ?? changeKeysFile(file, (keys) => keys ?? known ?? withNewKey([], options));
    } catch (error) {
      if (known === undefined) throw error;
      logger.error("The changed signing keys cannot be read: the previous ones stay in use", { error });
    }
    version = versionOf(file);
    return known;
  };
}

/** A value that changes whenever the file changes. */
function versionOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

/** The keys with a new current one. Removes the private parts of replaced keys, and keys that are no longer published. */
export function withNewKey(keys: readonly KeptKey[], options: SigningKeyOptions): readonly KeptKey[] {
  const at = new Date((options.now ?? Date.now)()).toISOString();
  const jwk = generateKey();
  const before = keys.map((key) =>
    key.state === "current"
      ? { ...key, state: "previous" as const, replacedAt: at, jwk: withoutPrivatePart(key.jwk) }
      : key,
  );
  return [
    { kid: jwk.kid, state: "current", createdAt: at, jwk },
    ...before.filter((key) => key.state === "revoked" || isPublished(key, options)),
  ];
}

/** A revoked key is not published, so that receivers reject its signatures. */
function isPublished(
  { state, replacedAt }: KeptKey,
  { retireAfter = RETIRE_AFTER, now = Date.now }: SigningKeyOptions,
): boolean {
  if (state !== "previous") return state === "current";
  return replacedAt !== undefined && Date.parse(replacedAt) + retireAfter > now();
}

/** A key without its secret. */
export function infoOf(key: KeptKey, options: SigningKeyOptions): SigningKeyInfo {
  const { jwk: _secret, ...info } = key;
  return { ...info, published: isPublished(key, options) };
}

function publicPart(jwk: SigningKey): PublishedKey {
  return { ...withoutPrivatePart(jwk), alg: SIGNING_ALGORITHM, use: "sig" };
}

function withoutPrivatePart({ d: _private, ...jwk }: SigningKey): SigningKey {
  return jwk;
}
