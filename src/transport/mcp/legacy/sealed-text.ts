import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../protocol/json.ts";

/** Longer texts were not written by this server. */
const MAX_LENGTH = 2000;

/** What a signature is bound to. */
export interface SealOptions {
  readonly key: Uint8Array;
  /** The use, and the caller: a text that was sealed for another one is invalid. */
  readonly binding: string;
}

/** Signs a value that a client holds and sends back. The client can read it. */
export function seal(value: JsonObject, options: SealOptions): string {
  const body = Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${body}.${signatureOf(body, options).toString("base64url")}`;
}

/** Reverses {@link seal}; `undefined` unless this server, or another node with its key, sealed exactly this text for this binding. */
export function unseal(text: string, options: SealOptions): JsonObject | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [body = "", signature = "", ...rest] = text.split(".");
  const given = Buffer.from(signature, "base64url");
  const expected = signatureOf(body, options);
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function signatureOf(body: string, { key, binding }: SealOptions): Buffer {
  return createHmac("sha256", key).update(`${binding}\0${body}`).digest();
}
