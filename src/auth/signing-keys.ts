import type { JWK } from "jose";
import type { PublishedKey } from "./detached-signature.ts";

/** What this project signs with: short, quick, and understood everywhere. */
export const SIGNING_ALGORITHM = "ES256";

/** A key that signs, with its private part. */
export type SigningKey = JWK & { readonly kid: string };

/** The keys of a server. Which one is current may change at any time. */
export interface SigningKeys {
  /** The key that signs now. */
  current(): SigningKey;
  /** The public parts of all whose signatures still count, the current one first. */
  published(): readonly PublishedKey[];
}
