import type { JsonObject, JsonValue } from "./json.ts";
import type { DataPart, Part } from "./part.ts";

/** What an agent needs its caller to authorise, as programs read it. */
export interface AuthRequestData {
  readonly requestId: string;
  /** Any one will do: names of schemes the caller knows, from the agent's card say, or schemes in the form of a card. */
  readonly schemes?: readonly (string | JsonObject)[];
  readonly description?: string;
  /** The answer is to be a secret; it may be encrypted to `key`. */
  readonly secret?: boolean;
  /** A public key, as JWK. */
  readonly key?: JsonObject;
  /** ISO 8601. After it the agent waits no longer. */
  readonly expiresAt?: string;
}

/** The protocol has no part for this: it travels as data, and the part's metadata says what it is. */
export function authRequestPart(request: AuthRequestData): DataPart {
  return { data: { ...request }, metadata: { kind: "auth-request" } };
}

/** What must be authorised, where the part says that. */
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

/** A secret on its way back: a compact JWE, encrypted to the key of the request. */
export function secretPart(jwe: string): DataPart {
  return { data: { jwe } };
}

/** The JWE in a message, where there is one. */
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

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
