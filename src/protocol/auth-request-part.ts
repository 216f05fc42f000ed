import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { DataPart, Part } from "./part.ts";

/** A machine-readable request for an authorisation. */
export interface AuthRequestData {
  /** The answer names it, so that it reaches the right question. */
  readonly requestId: string;
  /** Alternatives: names of schemes (for example from the agent's card), or schemes in the form of a card. */
  readonly schemes?: readonly (string | JsonObject)[];
  /** For people: what is authorised, and why. */
  readonly description?: string;
  /** The answer is a secret; it may be encrypted to `key`. */
  readonly secret?: boolean;
  /** A public key as JWK. */
  readonly key?: JsonObject;
  /** ISO 8601: when the agent stops waiting. */
  readonly expiresAt?: string;
}

/**
 * A2A has no part for this: it is a data part, marked by the part's metadata.
 * `{ requestId: "r1" }` becomes `{ data: { requestId: "r1" }, metadata: { kind: "auth-request" } }`.
 */
export function authRequestPart(request: AuthRequestData): DataPart {
  return { data: { ...request }, metadata: { kind: "auth-request" } };
}

/**
 * The request in a part; `undefined` for other parts and for a request without `requestId`. Other members of the wrong type are left out,
 * because the part may come from a remote agent.
 */
export function authRequestOf({ data, metadata }: Part): AuthRequestData | undefined {
  if (metadata?.["kind"] !== "auth-request" || !isJsonObject(data)) return undefined;
  const { requestId, schemes, description, secret, key, expiresAt } = data;
  if (typeof requestId !== "string") return undefined;
  return {
    requestId,
    ...(isSchemes(schemes) && { schemes }),
    ...(typeof description === "string" && { description }),
    ...(secret === true && { secret }),
    ...(isJsonObject(key) && { key }),
    ...(typeof expiresAt === "string" && { expiresAt }),
  };
}

/** The answer: a compact JWE, encrypted to the key of the request. `"eyJ…"` becomes `{ data: { jwe: "eyJ…" } }`. */
export function secretPart(jwe: string): DataPart {
  return { data: { jwe } };
}

/** The JWE in a message; `undefined` if there is none. */
export function jweIn(parts: readonly Part[]): string | undefined {
  for (const { data } of parts) {
    if (!isJsonObject(data)) continue;
    const { jwe } = data;
    if (typeof jwe === "string") return jwe;
  }
  return undefined;
}

function isSchemes(value: JsonValue | undefined): value is readonly (string | JsonObject)[] {
  return Array.isArray(value) && value.every((scheme: JsonValue) => typeof scheme === "string" || isJsonObject(scheme));
}
