import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import type { SigningKey } from "../../auth/signing-keys.ts";
import { messageOf, StartupError, systemCode } from "../startup-error.ts";
import { changeFile } from "./locked-file.ts";

/** `current`: it signs. `previous`: it no longer signs, but its signatures stay valid. `revoked`: its signatures are invalid. */
export const KEY_STATES = ["current", "previous", "revoked"] as const;
/** A current key becomes `previous` when it is replaced; every key may be revoked. */
export type KeyState = (typeof KEY_STATES)[number];

/** A key as stored. Times are ISO 8601. */
export interface KeptKey {
  /** The RFC 7638 thumbprint of the key. */
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: string;
  /** When it was replaced. */
  readonly replacedAt?: string;
  readonly revokedAt?: string;
  /** Includes the private part only while the key is current, so that old keys cannot be stolen. */
  readonly jwk: SigningKey;
}

/** Reads the keys; `undefined` if the file does not exist. Throws a {@link StartupError} if it cannot be read or is damaged. */
export function readKeysFile(file: string): readonly KeptKey[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new StartupError("failed", `The key file ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const keys = parse(text);
  if (keys !== undefined) return keys;
  throw new StartupError(
    "failed",
    `The key file ${file} is damaged.\nRestore it from a backup, or delete it: the server then makes new keys, and receivers must fetch them.`,
  );
}

/**
 * Changes the keys in a file under a lock; creates the file and its folder if necessary. A crash leaves either the old or the new file.
 */
export function changeKeysFile(
  file: string,
  change: (keys: readonly KeptKey[] | undefined) => readonly KeptKey[],
): readonly KeptKey[] {
  let kept: readonly KeptKey[] = [];
  try {
    changeFile(file, (place) => {
      const before = readKeysFile(place);
      kept = change(before);
      return kept === before ? undefined : `${JSON.stringify({ keys: kept }, null, 2)}\n`;
    });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError("failed", `The key file ${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
  return kept;
}

/** A new key, named by its RFC 7638 thumbprint. Never starts with `-`: `palaver keys revoke` would read such an id as an option. */
export function generateKey(): SigningKey {
  for (;;) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { kty = "EC", crv = "", x = "", y = "", d = "" } = privateKey.export({ format: "jwk" });
    const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
    if (!kid.startsWith("-")) return { kty, crv, x, y, d, kid };
  }
}

/** The text of a new current key, for a store that several nodes share. */
export function sharedKeysText(): string {
  const jwk = generateKey();
  return keysText([{ kid: jwk.kid, state: "current", createdAt: new Date().toISOString(), jwk }]);
}

/** Keys as {@link readSharedKeys} reads them. */
export function keysText(keys: readonly KeptKey[]): string {
  return JSON.stringify({ keys });
}

/** Reads {@link sharedKeysText}. Throws a {@link StartupError} if it is damaged. */
export function readSharedKeys(text: string): readonly KeptKey[] {
  const keys = parse(text);
  if (keys === undefined) throw new StartupError("failed", "The signing keys in the store are damaged.");
  return keys;
}

/** A valid file has exactly one current key. */
function parse(text: string): readonly KeptKey[] | undefined {
  try {
    const file: unknown = JSON.parse(text);
    const keys = typeof file === "object" && file !== null && "keys" in file ? file.keys : undefined;
    return Array.isArray(keys) && keys.every(isKept) && keys.filter(isCurrent).length === 1 ? keys : undefined;
  } catch {
    // Reported as damaged.
    return undefined;
  }
}

/** Only a current key needs its private part. */
function isKept(value: unknown): value is KeptKey {
  // Safe: every member is checked.
  const key = value as Partial<KeptKey> | null;
  if (typeof key?.kid !== "string" || !KEY_STATES.some((state) => state === key.state)) return false;
  const isPublic = key.jwk?.kty === "EC" && key.jwk.crv === "P-256" && key.jwk.kid === key.kid;
  const isTimed = typeof key.createdAt === "string" && !Number.isNaN(Date.parse(key.createdAt));
  return (
    isPublic &&
    isTimed &&
    typeof key.jwk?.x === "string" &&
    typeof key.jwk.y === "string" &&
    (key.state !== "current" || typeof key.jwk.d === "string")
  );
}

function isCurrent({ state }: KeptKey): boolean {
  return state === "current";
}
