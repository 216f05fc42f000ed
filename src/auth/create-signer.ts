import { type CryptoKey, FlattenedSign, importJWK, SignJWT } from "jose";
import { digestOf } from "./body-digest.ts";
import type { DetachedSignature } from "./detached-signature.ts";
import { SIGNING_ALGORITHM, type SigningKey, type SigningKeys } from "./signing-keys.ts";

/** What is said of a notification, under signature. */
export interface SignedNotification {
  /** Who sends it: where its keys are found below `/.well-known/jwks.json`. */
  readonly issuer: string;
  /** Where it goes. */
  readonly audience: string;
  readonly taskId: string;
  /** The same for every try to deliver it. */
  readonly jti: string;
  /** As it is sent, to the byte. */
  readonly body: string | Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface SignCardOptions {
  /** Where the keys are published. */
  readonly jku?: string | undefined;
}

/** Signs with whichever key is current. */
export interface Signer {
  /** The name of the key that would sign now. */
  readonly kid: string;
  /** A compact JSON Web Token that goes with one notification, for five minutes. */
  signNotification(notification: SignedNotification): Promise<string>;
  /** The signature of a text, which must be the canonical JSON of a card, apart from it. */
  signCard(text: string, options?: SignCardOptions): Promise<DetachedSignature>;
}

/** Seconds. A try to deliver takes less, and every try is signed anew. */
const NOTIFICATION_LIFETIME = 300;

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
      const header = { alg: SIGNING_ALGORITHM, typ: "JOSE", kid, ...(jku !== undefined && { jku }) };
      const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key);
      // Safe: it was just set.
      return { protected: jws.protected as string, signature: jws.signature };
    },
  };
}

async function importKey(jwk: SigningKey): Promise<CryptoKey> {
  const key = await importJWK(jwk, SIGNING_ALGORITHM);
  if (key instanceof Uint8Array) throw new TypeError("A shared secret is no key to sign with.");
  return key;
}
