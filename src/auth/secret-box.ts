import { CompactEncrypt, compactDecrypt, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";

const ALGORITHM = "ECDH-ES";
const ENCRYPTION = "A256GCM";
const CURVE = "P-256";

/** A public key to encrypt to, by RFC 7517. */
export type EncryptionKey = {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  readonly use: "enc";
  readonly alg: "ECDH-ES";
};

/** Both halves of a key that is used for one secret. The private one opens what was encrypted to the public one. */
export interface SecretBox {
  readonly publicKey: EncryptionKey;
  readonly privateKey: EncryptionKey & { readonly d: string };
}

export async function createSecretBox(): Promise<SecretBox> {
  const pair = await generateKeyPair(ALGORITHM, { crv: CURVE, extractable: true });
  const { x, y, d } = await exportJWK(pair.privateKey);
  if (x === undefined || y === undefined || d === undefined)
    throw new Error("The platform made a key without its parts.");
  const publicKey: EncryptionKey = { kty: "EC", crv: CURVE, x, y, use: "enc", alg: ALGORITHM };
  return { publicKey, privateKey: { ...publicKey, d } };
}

/**
 * Encrypts a text so that only whoever published this key can read it: a compact JWE (RFC 7516), by ECDH-ES and A256GCM. Rejects
 * for what is no public key on P-256.
 */
export async function encryptTo(key: object, text: string): Promise<string> {
  const { kty, crv, x, y }: JWK = key;
  if (kty !== "EC" || crv !== CURVE || x === undefined || y === undefined)
    throw new TypeError(`The key to encrypt to must be a JWK of a public key on ${CURVE}.`);
  const imported = await importJWK({ kty, crv, x, y }, ALGORITHM);
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
    .encrypt(imported);
}

/** What is in a compact JWE. `undefined`: it was not encrypted to this key, not in this way, or was changed on the way. */
export async function openSecret(
  { privateKey }: Pick<SecretBox, "privateKey">,
  jwe: string,
): Promise<string | undefined> {
  const { kty, crv, x, y, d } = privateKey;
  const key = await importJWK({ kty, crv, x, y, d }, ALGORITHM);
  try {
    const { plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: [ALGORITHM],
      contentEncryptionAlgorithms: [ENCRYPTION],
    });
    return new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
  } catch {
    // Whoever sent it learns only that; why in detail would help nobody but somebody who is trying keys.
    return undefined;
  }
}
