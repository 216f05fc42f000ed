import type { JWK } from "jose";
import type { PublishedKey } from "./detached-signature.ts";

/** The algorithm of this server's own signatures: short, fast and widely supported. */
export const SIGNING_ALGORITHM = "ES256";

/** A signing key, including its private part. */
export type SigningKey = JWK & { readonly kid: string };

/** The signing keys of a server. The current key may change at any time. */
export interface SigningKeys {
  /** The key that signs now. */
  current(): SigningKey;
  /** The public parts of all keys whose signatures are still valid, the current one first. */
  published(): readonly PublishedKey[];
}
