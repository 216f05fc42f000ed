import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import type { PublishedKey } from "../detached-signature.ts";
import type { SigningKey, SigningKeys } from "../signing-keys.ts";

/** A new signing key, including its private part. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

export function publicPartOf({ d: _private, ...jwk }: SigningKey): PublishedKey {
  return { ...jwk, alg: "ES256", use: "sig" };
}

/** A key set with one key. */
export function keysOf(key: SigningKey): SigningKeys {
  return { current: () => key, published: () => [publicPartOf(key)] };
}
