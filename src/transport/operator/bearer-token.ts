import { createHash, timingSafeEqual } from "node:crypto";
import type { Exchange } from "../exchange.ts";

/** Longer tokens are refused unread. */
const MAX_TOKEN = 512;
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;

/** The token in `Authorization: Bearer`; `undefined` if there is none, or more than one. */
export function bearerToken(exchange: Exchange): string | undefined {
  const header = exchange.header("authorization");
  if (header === undefined || header.length > MAX_TOKEN) return undefined;
  return BEARER.exec(header)?.[1];
}

/** Compares in a time that depends on neither of the texts. An empty expected token matches nothing. */
export function isSameToken(given: string | undefined, expected: string): boolean {
  if (given === undefined || expected === "") return false;
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
