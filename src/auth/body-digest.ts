import { sameBytes, sha256 } from "./verify/digest.ts";

/** The SHA-256 of a body's bytes, in lower-case hexadecimal. */
export async function digestOf(body: string | Uint8Array): Promise<string> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares two secrets in constant time. Hashing makes their lengths equal, so that the time does not reveal the length either. */
export async function isSameSecret(one: string, other: string): Promise<boolean> {
  return sameBytes(await sha256(one), await sha256(other));
}
