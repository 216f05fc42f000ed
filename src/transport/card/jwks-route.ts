import { createHash } from "node:crypto";
import type { SigningKeys } from "../../auth/signing-keys.ts";
import { jsonReply } from "../exchange.ts";
import { createRoute, type Handler, type Refuse, type Route } from "../router.ts";
import { hasTag } from "./entity-tag.ts";

export const JWKS_PATH = "/.well-known/jwks.json";

/** Shorter than the time for which a replaced key stays published. Verifiers fetch unknown keys again anyway. */
const MAX_AGE_SECONDS = 300;

/** The public keys of the signatures of notifications and cards. Public. */
export function jwksRoute(keys: SigningKeys, refuse: Refuse): Route {
  const read: Handler = (exchange) => {
    const body = JSON.stringify({ keys: keys.published() });
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
    const headers = { etag, "cache-control": `public, max-age=${MAX_AGE_SECONDS}` };
    if (hasTag(exchange.header("if-none-match"), etag)) return { status: 304, headers, body: "" };
    return jsonReply(200, body, { ...headers, "content-type": "application/jwk-set+json" });
  };
  return createRoute(new Map([["GET", read]]), { refuse, open: true });
}
