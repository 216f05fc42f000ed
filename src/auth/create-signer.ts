import type { CryptoKey } from "jose";
import { digestOf } from "./body-digest.ts";
import type { DetachedSignature } from "./detached-signature.ts";
import { SIGNING_ALGORITHM, type SigningKey, type SigningKeys } from "./signing-keys.ts";

/** A notification to be signed. */
export interface SignedNotification {
  /** The sender's URL; its keys are published below it at `/.well-known/jwks.json`. */
  readonly issuer: string;
  /** The receiver's URL. */
  readonly audience: string;
  readonly taskId: string;
  /** Identifies the notification; the same for every attempt to deliver it. */
  readonly jti: string;
  /** The body exactly as sent. */
  readonly body: string | Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Optional members of a card's signature. */
export interface SignCardOptions {
  /** The URL of the published key set. */
  readonly jku?: string | undefined;
}

/** Signs with the current key. */
export interface Signer {
  /** The id of the current key. */
  readonly kid: string;
  /** A compact JSON Web Token for one notification, valid for 5 minutes. */
  signNotification(notification: SignedNotification): Promise<string>;
  /** A detached signature. `text` must be the canonical JSON of a card. */
  signCard(text: string, options?: SignCardOptions): Promise<DetachedSignature>;
}

/** Seconds for which a token is valid. An attempt takes less, and every attempt is signed anew. */
const NOTIFICATION_LIFETIME = 300;

/** The current key is imported again only after it has changed. */
export function createSigner(keys: SigningKeys): Signer {
  let imported: { readonly kid: string; readonly key: Promise<CryptoKey> } | undefined;
  const current = async (): Promise<{ readonly kid: string; readonly key: CryptoKey }> => {
    const jwk = keys.current();
    if (imported?.kid !== jwk.kid) imported = { kid: jwk.kid, key: importKey(jwk) };
    return { kid: jwk.kid, key: await imported.key };
  };
  return {
    get kid() {
      return keys.current().kid;
    },
    async signNotification({ issuer, audience, taskId, jti, body, now }) {
      const { kid, key } = await current();
      const { SignJWT } = await import("jose");
      const issuedAt = Math.floor(now / 1000);
      return new SignJWT({ taskId, request_body_sha256: await digestOf(body) })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: "JWT", kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + NOTIFICATION_LIFETIME)
        .setJti(jti)
        .sign(key);
    },
    async signCard(text, { jku } = {}) {
      const { kid, key } = await current();
      const { FlattenedSign } = await import("jose");
      // The header of A2A 1.0 §8.4.2.
      const header = { alg: SIGNING_ALGORITHM, typ: "JOSE", kid, ...(jku !== undefined && { jku }) };
      const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key);
      // Safe: it was just set.
      return { protected: jws.protected as string, signature: jws.signature };
    },
  };
}

async function importKey(jwk: SigningKey): Promise<CryptoKey> {
  const { importJWK } = await import("jose");
  const key = await importJWK(jwk, SIGNING_ALGORITHM);
  if (key instanceof Uint8Array) throw new TypeError("A shared secret cannot be used as a signing key.");
  return key;
}
