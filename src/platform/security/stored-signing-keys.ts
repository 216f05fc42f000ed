import { postgresAddress } from "../postgres-address.ts";
import { listSharedKeys, revokeSharedKey, rotateSharedKeys } from "./shared-signing-keys.ts";
import {
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKeys,
  type SigningKeyInfo,
  type SigningKeyOptions,
  signingFileOf,
} from "./signing-keys.ts";

/** The signing keys of a store that is a file or a database. */
export interface StoredSigningKeys {
  /** Newest first. */
  list(): Promise<readonly SigningKeyInfo[]>;
  /** Makes a new current key; the previous one stays published for 7 days. */
  rotate(): Promise<SigningKeyInfo>;
  /** `undefined`: there is no such key. */
  revoke(kid: string): Promise<SigningKeyInfo | undefined>;
}

/** Finds the signing keys of `sqlite:FILE` (an absolute path) or `postgres://…`. `undefined`: the store is in memory. */
export function storedSigningKeys(
  store: string,
  environment: Readonly<Record<string, string | undefined>>,
  options: SigningKeyOptions,
): StoredSigningKeys | undefined {
  const address = postgresAddress(store, environment);
  if (address !== undefined) {
    return {
      list: () => listSharedKeys(address, options),
      rotate: () => rotateSharedKeys(address, options),
      revoke: (kid) => revokeSharedKey(address, kid, options),
    };
  }
  const file = signingFileOf(store);
  if (file === undefined) return undefined;
  return {
    list: async () => listSigningKeys(file, options),
    rotate: async () => rotateSigningKeys(file, options),
    revoke: async (kid) => revokeSigningKey(file, kid, options),
  };
}
