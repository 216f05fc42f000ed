import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { jwtBearer, type Verifier } from "palaver/auth";

/** An issuer of tokens that a server trusts. */
export interface Issuer {
  /** The verifier that the server uses for these tokens. */
  readonly verifier: Verifier;
  /** The Authorization header of a caller with these scopes. */
  bearer(subject: string, scope?: string): Promise<{ readonly authorization: string }>;
}

const ISSUER = "https://issuer.example";
const AUDIENCE = "https://agents.example";

export async function createIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] };
  return {
    verifier: jwtBearer({ issuer: ISSUER, audience: AUDIENCE, jwks }),
    async bearer(subject, scope = "") {
      const token = await new SignJWT({ scope })
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(privateKey);
      return { authorization: `Bearer ${token}` };
    },
  };
}
