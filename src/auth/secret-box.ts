// Encryption of one secret answer. An agent that asks for a secret publishes a fresh public key with its question; the caller encrypts the
// answer, so that only the agent's server can read it, not the proxies and logs on the way.

import type { JWK } from "jose";

const ALGORITHM = "ECDH-ES";
const ENCRYPTION = "A256GCM";
const CURVE = "P-256";

/** A public encryption key as JWK (RFC 7517). */
export type EncryptionKey = {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  readonly use: "enc";
  readonly alg: "ECDH-ES";
};

/** A key pair for one secret. The private key decrypts text that was encrypted with the public key. */
export interface SecretBox {
  readonly publicKey: EncryptionKey;
  readonly privateKey: EncryptionKey & { readonly d: string };
}

/** Creates a new key pair. The private key is extractable, because it is stored with the question. */
export async function createSecretBox(): Promise<SecretBox> {
  const { exportJWK, generateKeyPair } = await import("jose");
  const pair = await generateKeyPair(ALGORITHM, { crv: CURVE, extractable: true });
  const { x, y, d } = await exportJWK(pair.privateKey);
  if (x === undefined || y === undefined || d === undefined) throw new Error("The platform created an incomplete key.");
  const publicKey: EncryptionKey = { kty: "EC", crv: CURVE, x, y, use: "enc", alg: ALGORITHM };
  return { publicKey, privateKey: { ...publicKey, d } };
}

/**
 * Encrypts a text so that only the owner of this key can read it: a compact JWE (RFC 7516) with ECDH-ES and A256GCM. Rejects with a
 * `TypeError` for anything but a public key on P-256.
 */
export async function encryptTo(key: object, text: string): Promise<string> {
  const { kty, crv, x, y }: JWK = key;
  if (kty !== "EC" || crv !== CURVE || x === undefined || y === undefined)
    throw new TypeError(`The encryption key must be a public key on ${CURVE} as JWK.`);
  const { CompactEncrypt, importJWK } = await import("jose");
  const imported = await importJWK({ kty, crv, x, y }, ALGORITHM);
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
    .encrypt(imported);
}

/** Decrypts a compact JWE; `undefined` if it was encrypted with another key or algorithm, or was changed. */
export async function openSecret(
  { privateKey }: Pick<SecretBox, "privateKey">,
  jwe: string,
): Promise<string | undefined> {
  const { kty, crv, x, y, d } = privateKey;
  const { compactDecrypt, importJWK } = await import("jose");
  const key = await importJWK({ kty, crv, x, y, d }, ALGORITHM);
  try {
    const { plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: [ALGORITHM],
      contentEncryptionAlgorithms: [ENCRYPTION],
    });
    return new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
  } catch {
    // The details would help only an attacker who tries keys.
    return undefined;
  }
}
