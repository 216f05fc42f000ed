import { createHmac, randomBytes } from "node:crypto";
import { isSameToken } from "../operator/bearer-token.ts";

/** Milliseconds for which a session is valid. */
const LIFETIME = 24 * 60 * 60 * 1000;

/** What a page keeps after it was opened with the start-up URL. */
export interface ConsoleSession {
  /** For `Authorization: Bearer`. */
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Lets pages of the console use the operator API from this machine. */
export interface ConsoleSessions {
  /** In the fragment of the start-up URL. Another one after each start. */
  readonly code: string;
  /** `undefined` if the code is wrong. */
  open(code: string): ConsoleSession | undefined;
  /** Whether a token belongs to a session that has not expired. */
  isValid(token: string | undefined): boolean;
}

export interface ConsoleSessionsOptions {
  /** Signs sessions. With the same secret after a restart, open pages go on without signing in again. */
  readonly secret: string;
  /** Replaces the system clock, for tests. */
  readonly now?: () => number;
}

const TOKEN = /^plc_([0-9a-z]{1,12})\.[\w-]{43}$/;

export function createConsoleSessions({ secret, now = Date.now }: ConsoleSessionsOptions): ConsoleSessions {
  const code = randomBytes(24).toString("base64url");
  const tokenOf = (expiry: string): string =>
    `plc_${expiry}.${createHmac("sha256", secret).update(`palaver console session ${expiry}`).digest("base64url")}`;
  return {
    code,
    open(given) {
      if (!isSameToken(given, code)) return undefined;
      const expires = now() + LIFETIME;
      return { token: tokenOf(expires.toString(36)), expiresAt: new Date(expires).toISOString() };
    },
    isValid(token) {
      const [, expiry] = TOKEN.exec(token ?? "") ?? [];
      return expiry !== undefined && isSameToken(token, tokenOf(expiry)) && Number.parseInt(expiry, 36) > now();
    },
  };
}
