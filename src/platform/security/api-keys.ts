import { createApiKey, type StoredApiKey, apiKeys as verifyKeys } from "../../auth/verify/api-keys.ts";
import type { Verifier } from "../../auth/verify/contract.ts";
import { cannotVerify, type KeyPlace } from "../../auth/verify/request-credentials.ts";
import type { Logger } from "../../internal/logger.ts";
import { StartupError } from "../startup-error.ts";
import { isSameFile, type KeyFileState, readKeyFile, stateOfKeyFile, updateKeyFile } from "./api-keys-file.ts";

/** Properties of a new API key. */
export interface NewApiKey {
  readonly name: string;
  /** Owner of the tasks that the key creates. Default: its name. */
  readonly owner?: string | undefined;
  readonly tenant?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** When it expires, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined;
}

/** Names, owners and tenants: at most 128 characters, none of which could confuse a terminal or a log. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@:/-]{0,127}$/u;

/** Makes a key and stores everything but its secret. The returned text cannot be read again. */
export async function addApiKey(
  file: string,
  asked: NewApiKey,
  now: number = Date.now(),
): Promise<{ readonly key: string; readonly stored: StoredApiKey }> {
  const { name, owner = name, tenant, scopes = [], expiresAt } = asked;
  for (const [what, text] of Object.entries({ name, owner, ...(tenant !== undefined && { tenant }) })) {
    if (!NAME.test(text))
      throw new StartupError(
        "usage",
        `The ${what} ${JSON.stringify(text)} is invalid. Use letters, digits, spaces and . _ @ : / -`,
      );
  }
  const wrong = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (wrong !== undefined)
    throw new StartupError(
      "usage",
      `${JSON.stringify(wrong)} is not a valid scope: it must not contain spaces, quotes or backslashes.`,
    );
  const made = await createApiKey({
    name,
    owner,
    scopes: [...new Set(scopes)],
    createdAt: new Date(now).toISOString(),
    ...(tenant !== undefined && { tenant }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  });
  updateKeyFile(file, (keys) => {
    // Two keys of one owner share tasks, so that must be explicit.
    if (asked.owner === undefined && keys.some((key) => key.owner === name && key.revokedAt === undefined)) {
      throw new StartupError(
        "usage",
        `There is already a key of ${JSON.stringify(name)}. Both keys would share its tasks.\nChoose another name, or share the tasks with --owner ${name}`,
      );
    }
    return [...keys, made.stored];
  });
  return made;
}

/** All keys, including revoked ones. */
export function listApiKeys(file: string): readonly StoredApiKey[] {
  return readKeyFile(file);
}

/** Revokes a key. False if it does not exist or was revoked before. */
export function revokeApiKey(file: string, id: string, now: number = Date.now()): boolean {
  const isMeant = (key: StoredApiKey): boolean => key.id === id && key.revokedAt === undefined;
  if (!readKeyFile(file).some(isMeant)) return false;
  const revokedAt = new Date(now).toISOString();
  updateKeyFile(file, (keys) => keys.map((key) => (isMeant(key) ? { ...key, revokedAt } : key)));
  return true;
}

/** The file, and where requests have the key. Default: the header `X-API-Key`. */
export interface ApiKeyFileOptions extends Partial<KeyPlace> {
  readonly file: string;
  readonly logger?: Logger | undefined;
}

/** Milliseconds between checks for changes of the file. */
const RECHECK_INTERVAL = 1000;

/**
 * Verifies API keys of a file, made with `palaver keys add`. Changes of the file take effect within 1 s. While the file is damaged or cannot be read, all keys
 * are rejected; a missing file counts as empty.
 */
export function apiKeyFile({ file, logger, ...place }: ApiKeyFileOptions): Verifier {
  let keys: ReadonlyMap<string, StoredApiKey> | undefined;
  let state: KeyFileState | undefined;
  let recheckAt = 0;
  const look = (): void => {
    const now = performance.now();
    if (now < recheckAt) return;
    recheckAt = now + RECHECK_INTERVAL;
    try {
      // Check the state before reading: a change during the read is then noticed at the next check.
      const current = stateOfKeyFile(file);
      if (keys !== undefined && isSameFile(state, current)) return;
      keys = new Map(readKeyFile(file).map((key) => [key.id, key]));
      state = current;
    } catch (error) {
      if (keys !== undefined || state === undefined)
        logger?.error("API keys cannot be read: all keys are rejected", { error });
      keys = undefined;
      state = { missing: true, token: "unreadable" };
    }
  };
  return verifyKeys({
    ...place,
    find(id) {
      look();
      if (keys === undefined) throw cannotVerify();
      return keys.get(id);
    },
  });
}
