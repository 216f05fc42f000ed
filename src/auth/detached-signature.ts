import type { CryptoKey, JWK } from "jose";
import { decodeProtectedHeader } from "jose/decode/protected_header";

/** A detached JWS (RFC 7515), as agent cards carry it (A2A 1.0 §4.4.7). */
export interface DetachedSignature {
  /** The protected header as base64url of JSON. */
  readonly protected: string;
  /** In base64url. */
  readonly signature: string;
  /** The unprotected header. It is not signed: trust nothing in it. */
  readonly header?: Readonly<Record<string, unknown>>;
}

/** The protected header of a signature. */
export interface SignatureHeader {
  readonly alg: string;
  readonly kid: string;
  /** The URL of the key set, as the signer claims. */
  readonly jku?: string;
}

/** A published key. Times are in seconds since 1970. */
export type PublishedKey = JWK & { readonly nbf?: number; readonly exp?: number; readonly revoked?: unknown };

/** A public key: a JWK, or a `CryptoKey` of the platform. */
export type PublicKey = PublishedKey | CryptoKey;

/** A JSON Web Key Set (RFC 7517). */
export interface KeySet {
  readonly keys: readonly PublishedKey[];
}

/** Asymmetric algorithms only: with a shared secret, everybody who can verify could sign. */
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

/** Parses the protected header. Throws an `Error` whose message says what is wrong. */
export function readSignatureHeader(signature: DetachedSignature): SignatureHeader {
  const { alg, kid, jku } = decodeProtectedHeader({ protected: signature.protected });
  if (typeof alg !== "string") throw new Error("its header has no alg");
  if (typeof kid !== "string" || kid === "") throw new Error("its header has no kid");
  return { alg, kid, ...(typeof jku === "string" && { jku }) };
}

/** The key to verify with, and the algorithms that the caller accepts. */
export interface VerifyOptions {
  readonly key: PublicKey;
  readonly algorithms: readonly string[];
}

/** True if this key signed this text. Throws an `Error` if the key does not fit the signature's algorithm. */
export async function isSignatureOf(
  { protected: header, signature, header: unprotected }: DetachedSignature,
  text: string,
  { key, algorithms }: VerifyOptions,
): Promise<boolean> {
  const { flattenedVerify, importJWK } = await import("jose");
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

/** Why a published key must not be used; `undefined` if it may. `now` is in milliseconds since 1970. */
export function unusable(key: PublishedKey, alg: string, now: number): string | undefined {
  // A published secret must not verify anything: everybody who reads it could sign.
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
