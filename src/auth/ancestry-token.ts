import type { JWTPayload } from "jose";
import { MAX_CALL_PATH } from "../protocol/call-path.ts";
import { type Ancestry, ancestryFrom } from "../protocol/calls/ancestry.ts";
import { SIGNING_ALGORITHM, type SigningKeys } from "./signing-keys.ts";
import type { FindKey } from "./verify/key-set.ts";

/** Signs the ancestry of messages, and reads that of others. */
export interface AncestryTokens {
  /** A compact JSON Web Token that is valid for this message only. */
  sign(ancestry: Ancestry, messageId: string): Promise<string>;
  /**
   * Reads a token. The result is `verified` if the key is this server's or one of a trusted server. Resolves with the problem if it is malformed, is for another
   * message, or has a signature that is not valid although the key is known.
   */
  read(token: string, messageId: string): Promise<Ancestry | { readonly problem: string }>;
}

export interface AncestryTokensOptions {
  readonly keys: SigningKeys;
  readonly serverId: string;
  /** Keys of servers that are trusted, by server. Each rejects for unknown keys. */
  readonly trusted: readonly FindKey[];
}

/** Characters. A path of 64 entries of 160 characters fits. */
const MAX_LENGTH = 20_000;
const TYPE = "palaver-ancestry+jwt";

/** Loaded when it is first needed: few messages have an ancestry. */
type Jose = typeof import("jose");

export function createAncestryTokens({ keys, serverId, trusted }: AncestryTokensOptions): AncestryTokens {
  return {
    async sign({ root, parent, depth, path, deadline, budget }, messageId) {
      const { importJWK, SignJWT } = await import("jose");
      const { kid } = keys.current();
      const key = await importJWK(keys.current(), SIGNING_ALGORITHM);
      const members = { root, parent, depth, path, ...(deadline !== undefined && { deadline }) };
      return new SignJWT({ ...members, ...(budget !== undefined && { budget: { ...budget } }) })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: TYPE, kid })
        .setIssuer(serverId)
        .setJti(messageId)
        .setIssuedAt()
        .sign(key);
    },
    async read(token, messageId) {
      const jose = await import("jose");
      const claims = token.length > MAX_LENGTH ? undefined : claimsOf(jose, token);
      const path = claims?.["path"];
      const isPath = Array.isArray(path) && path.length <= MAX_CALL_PATH && path.every(isEntry);
      if (claims === undefined || !isPath) return { problem: "is not a valid ancestry" };
      if (claims.jti !== messageId) return { problem: "was made for another message" };
      const own = jose.createLocalJWKSet({ keys: keys.published().map((key) => ({ ...key })) });
      const checks = [own, ...trusted];
      const results = await Promise.all(checks.map((find) => check(jose, token, find)));
      if (results.includes("wrong")) return { problem: "has a signature that is not valid" };
      const verified = results.includes("valid");
      // Nobody else can sign for this server.
      if (!verified && claims.iss === serverId) return { problem: "has a signature that is not valid" };
      return ancestryFrom(claims, path, verified) ?? { problem: "is not a valid ancestry" };
    },
  };
}

/** `unknown`: the key is not known here, or cannot be read now. */
async function check(
  { jwtVerify, errors }: Jose,
  token: string,
  find: FindKey,
): Promise<"valid" | "wrong" | "unknown"> {
  try {
    await jwtVerify(token, find, { algorithms: [SIGNING_ALGORITHM], typ: TYPE });
    return "valid";
  } catch (error) {
    return error instanceof errors.JWSSignatureVerificationFailed ? "wrong" : "unknown";
  }
}

function claimsOf({ decodeProtectedHeader, decodeJwt }: Jose, token: string): JWTPayload | undefined {
  try {
    return decodeProtectedHeader(token).alg === SIGNING_ALGORITHM ? decodeJwt(token) : undefined;
  } catch {
    // Malformed: the sender has the token, and the receiver no use for the reason.
    return undefined;
  }
}

function isEntry(entry: unknown): entry is string {
  return typeof entry === "string" && /^[\w.~:@/-]{1,160}$/.test(entry);
}
