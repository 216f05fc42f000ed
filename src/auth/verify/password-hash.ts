import * as base64url from "jose/base64url";
import { fromBase64Url, sameBytes } from "./digest.ts";

/** The iterations that OWASP recommends for PBKDF2 with SHA-256. */
const ITERATIONS = 600_000;
/** An upper bound, so that one password check cannot occupy a processor for long. */
const MAX_ITERATIONS = 10_000_000;
const FORM = /^pbkdf2-sha256\$(\d{1,8})\$([\w-]+)\$([\w-]+)$/;

/** Hashes a password for storage: `pbkdf2-sha256$ITERATIONS$SALT$HASH`. */
export async function hashPassword(password: string, iterations: number = ITERATIONS): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const hash = await derive(password, { salt, iterations });
  return `pbkdf2-sha256$${iterations}$${base64url.encode(salt)}$${base64url.encode(hash)}`;
}

export interface PasswordHash {
  readonly iterations: number;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** Parses a stored hash. Throws a `TypeError`, which does not quote the text, if {@link hashPassword} did not create it. */
export function parsePasswordHash(text: string): PasswordHash {
  const [, count = "", saltText = "", hashText = ""] = FORM.exec(text) ?? [];
  const iterations = Number(count);
  const salt = fromBase64Url(saltText);
  const hash = fromBase64Url(hashText);
  const isSound = iterations > 0 && iterations <= MAX_ITERATIONS && (salt?.length ?? 0) >= 8 && hash?.length === 32;
  if (!isSound || salt === undefined || hash === undefined) {
    throw new TypeError("A password hash must be created with hashPassword().");
  }
  return { iterations, salt, hash };
}

/** Takes a good part of a second of one processor, by design. */
export async function matchesPassword(password: string, expected: PasswordHash): Promise<boolean> {
  return sameBytes(await derive(password, expected), expected.hash);
}

async function derive(password: string, { salt, iterations }: Omit<PasswordHash, "hash">): Promise<Uint8Array> {
  const material = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveBits",
  ]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(salt), iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256));
}
