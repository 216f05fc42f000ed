import { RemoteError } from "../http/errors.ts";

/** A secret, or a function that returns it. The function is called again after the agent has rejected the secret. */
export type Secret = string | (() => string | Promise<string>);

/** Throws `no-credentials` if the value is empty or no text. */
export async function readSecret(secret: Secret): Promise<string> {
  const value = typeof secret === "string" ? secret : await secret();
  // JavaScript callers may pass anything; an unset environment variable is a common mistake.
  if (typeof value !== "string" || value === "") throw new RemoteError("no-credentials", "A credential is empty.");
  return value;
}

/**
 * The value, if a header can carry it; otherwise throws `no-credentials`. Checked here because the error of `Headers` would contain the
 * value.
 */
export function asHeaderValue(value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new RemoteError("no-credentials", "A credential has characters that an HTTP header cannot carry.");
  }
  return value;
}

/** The value, if a cookie can carry it: no character ends the cookie or starts another. */
export function asCookieValue(value: string): string {
  if (!/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value)) {
    throw new RemoteError("no-credentials", "A credential has characters that a cookie cannot carry.");
  }
  return value;
}

/**
 * Foreign text for an error message: in one line of at most 200 characters, with the secrets replaced by `…`, also in percent-encoded form.
 */
export function redacted(text: string, secrets: readonly (string | undefined)[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret !== "")
      clean = clean.replaceAll(secret, "…").replaceAll(encodeURIComponent(secret), "…");
  }
  const line = clean.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** Base64 of UTF-8. */
export function base64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text));
}

/** Without padding, as JOSE and PKCE require. */
export function base64Url(bytes: Uint8Array): string {
  return bytesToBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesToBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
