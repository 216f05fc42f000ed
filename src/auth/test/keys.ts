import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import type { PublishedKey } from "../detached-signature.ts";
import type { SigningKey, SigningKeys } from "../signing-keys.ts";

/** A new key, private part included. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

export function publicPartOf({ d: _private, ...jwk }: SigningKey): PublishedKey {
  return { ...jwk, alg: "ES256", use: "sig" };
}

/** Just this one. */
export function keysOf(key: SigningKey): SigningKeys {
  return { current: () => key, published: () => [publicPartOf(key)] };
}
