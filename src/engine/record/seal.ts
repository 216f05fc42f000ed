import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts texts that must be stored but must not be readable in the store. */
export interface Sealer {
  /** `context`: the sealed text can be opened only with the same one. */
  seal(plain: string, context: string): string;
  /** Throws a {@link SealBroken} unless the text was sealed with this secret and context. */
  open(sealed: string, context: string): string;
}

/** The text was tampered with, or sealed with another secret or for another context. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
  readonly code = "seal-broken";

  constructor(cause?: unknown) {
    super("A sealed text could not be opened: it was changed, or sealed with another secret or for another task.", {
      cause,
    });
  }
}

const ALGORITHM = "aes-256-gcm";
const PURPOSE = "palaver/seal/1";
const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const MIN_SECRET_BYTES = 16;

/** `secret`: at least 16 random bytes. Sealed texts are base64url of version, nonce, tag and ciphertext. */
export function createSealer(secret: Uint8Array): Sealer {
  if (secret.byteLength < MIN_SECRET_BYTES)
    throw new TypeError(`The secret must have at least ${MIN_SECRET_BYTES} bytes.`);
  const key = Buffer.from(hkdfSync("sha256", secret, new Uint8Array(0), PURPOSE, KEY_BYTES));

  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, "base64url");
      // The decoder ignores characters that are not base64url; a text with such characters was changed and is rejected.
      if (bytes.length < HEADER_BYTES || bytes[0] !== VERSION || bytes.toString("base64url") !== sealed)
        throw new SealBroken();
      const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
      const tag = bytes.subarray(1 + NONCE_BYTES, HEADER_BYTES);
      try {
        const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
        return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES)), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new SealBroken(cause);
      }
    },
  };
}

/** The text, or `undefined` if it cannot be opened, for example because the secret has changed. */
export function openSealed(sealer: Sealer, sealed: string, context: string): string | undefined {
  try {
    return sealer.open(sealed, context);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
