import { type CryptoKey, decodeProtectedHeader, flattenedVerify, importJWK, type JWK } from "jose";

/** A signature as cards carry it, by RFC 7515, apart from what is signed. */
export interface DetachedSignature {
  readonly protected: string;
  readonly signature: string;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** What a signature says of itself, under its own protection. */
export interface SignatureHeader {
  readonly alg: string;
  readonly kid: string;
  /** Where its key is to be found, as it says. */
  readonly jku?: string;
}

/** A key as it is published. Times are in seconds since 1970. */
export type PublishedKey = JWK & { readonly nbf?: number; readonly exp?: number; readonly revoked?: unknown };

/** A public key, as JWK or as the platform has it. */
export type PublicKey = PublishedKey | CryptoKey;

/** Public keys as they are published, by RFC 7517. */
export interface KeySet {
  readonly keys: readonly PublishedKey[];
}

/** Algorithms with a private and a public key. With the others, whoever can verify can sign. */
export const SIGNATURE_ALGORITHMS = [
  "ES256",
  "ES384",
  "ES512",
  "Ed25519",
  "EdDSA",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
] as const;

/** Throws an `Error` that says what is wrong with it. */
export function readSignatureHeader(signature: DetachedSignature): SignatureHeader {
  const { alg, kid, jku } = decodeProtectedHeader({ protected: signature.protected });
  if (typeof alg !== "string") throw new Error("its header names no algorithm");
  if (typeof kid !== "string" || kid === "") throw new Error("its header names no key");
  return { alg, kid, ...(typeof jku === "string" && { jku }) };
}

export interface VerifyOptions {
  readonly key: PublicKey;
  readonly algorithms: readonly string[];
}

/** Whether this key made that signature of that text. Throws an `Error` where key and signature do not go together. */
export async function isSignatureOf(
  { protected: header, signature, header: unprotected }: DetachedSignature,
  text: string,
  { key, algorithms }: VerifyOptions,
): Promise<boolean> {
  const { alg } = decodeProtectedHeader({ protected: header });
  const imported = isJwk(key) ? await importJWK(key, alg) : key;
  const payload = base64Url(new TextEncoder().encode(text));
  try {
    const jws = { protected: header, signature, payload, ...(unprotected !== undefined && { header: unprotected }) };
    await flattenedVerify(jws, imported, { algorithms: [...algorithms] });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED")
      return false;
    throw error;
  }
}

/** Why a published key must not be used; `undefined`: it may. `now` is in milliseconds since 1970. */
export function unusable(key: PublishedKey, alg: string, now: number): string | undefined {
  // Secrets are no public keys, whoever publishes them.
  if (key.kty === "oct") return "its key is a shared secret";
  if (key.use !== undefined && key.use !== "sig") return "its key is not for signatures";
  if (key.key_ops?.includes("verify") === false) return "its key is not for verifying";
  if (key.alg !== undefined && key.alg !== alg) return `its key is for ${key.alg}`;
  if (key.exp !== undefined && !(key.exp * 1000 > now)) return "its key has expired";
  if (key.nbf !== undefined && !(key.nbf * 1000 <= now)) return "its key is not valid yet";
  if (key.revoked !== undefined && key.revoked !== false) return "its key is revoked";
  return undefined;
}

function isJwk(key: PublicKey): key is PublishedKey {
  return "kty" in key;
}

function base64Url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
