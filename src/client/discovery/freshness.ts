// How long a response may be reused (RFC 9111), for a private cache.

import { HeaderFields } from "../http/header-fields.ts";

/** A cached response, and when it was requested and received, in milliseconds since 1970. */
export interface KeptAnswer {
  readonly headers: Headers;
  readonly requestedAt: number;
  readonly receivedAt: number;
}

/** Directives of `Cache-Control`: `max-age=60, no-store` has `max-age` with `60`, and `no-store` with an empty value. */
export type CacheDirectives = ReadonlyMap<string, string>;

/** The directives by name in lower case. The first of two equal names wins. A directive without a value has an empty one. */
export function cacheDirectives(header: string | null): CacheDirectives {
  const directives = new Map<string, string>();
  for (const [, name = "", quoted, bare] of (header ?? "").matchAll(DIRECTIVE)) {
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, quoted ?? bare ?? "");
  }
  return directives;
}

const DIRECTIVE = /([!#$%&'*+\-.^_`|~\w]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

/** The cache directives of a response, from `Cache-Control`, else from `Pragma` (HTTP/1.0). */
export function directivesOf(headers: Headers): CacheDirectives {
  const control = headers.get("cache-control");
  if (control === null && /\bno-cache\b/i.test(headers.get("pragma") ?? "")) return new Map([["no-cache", ""]]);
  return cacheDirectives(control);
}

/** Whether a response may be cached. One with `Vary: *` would never match a request. */
export function mayKeep(headers: Headers): boolean {
  return !directivesOf(headers).has("no-store") && !variesBy(headers).includes("*");
}

/** The request headers, in lower case, that a response varies by. */
export function variesBy(headers: Headers): readonly string[] {
  const names = (headers.get("vary") ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** For how many milliseconds a response is fresh after the server created it; `fallback` if it does not say. */
export function lifetimeOf(headers: Headers, fallback: number): number {
  const directives = directivesOf(headers);
  if (directives.has("no-cache")) return 0;
  const maxAge = directives.get("max-age");
  if (maxAge !== undefined) return secondsOf(maxAge) * 1000;
  const expires = headers.get("expires");
  if (expires === null) return fallback;
  // An invalid date counts as past.
  const until = Date.parse(expires);
  const from = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(until) || Number.isNaN(from) ? 0 : Math.max(until - from, 0);
}

/** An invalid value makes a response stale. */
function secondsOf(text: string): number {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : 0;
}

/** The limit of RFC 9111 §1.2.2 for numbers that are too large. */
const MAX_SECONDS = 2 ** 31;

/** How many milliseconds ago the server created a response, including its time in other caches. */
export function ageOf({ headers, requestedAt, receivedAt }: KeptAnswer, now: number): number {
  const made = Date.parse(headers.get("date") ?? "");
  const apparent = Number.isNaN(made) ? 0 : Math.max(receivedAt - made, 0);
  const declaredAge = secondsOf((headers.get("age") ?? "").trim()) * 1000;
  return Math.max(apparent, declaredAge + receivedAt - requestedAt) + Math.max(now - receivedAt, 0);
}

/** What applies if a response has no cache headers (A2A 1.0 §8.6.2 leaves it to the client). */
export interface StalePolicy {
  /** Milliseconds of freshness if the response does not say. */
  readonly defaultTtl: number;
  /** Milliseconds after freshness for which a response may be used if a new request fails. */
  readonly staleIfError: number;
}

/** A fresh response is used without a request. */
export function isFresh(answer: KeptAnswer, now: number, { defaultTtl }: StalePolicy): boolean {
  return ageOf(answer, now) < lifetimeOf(answer.headers, defaultTtl);
}

/** Whether a stale response may be used because a new request has failed. The response may forbid it or allow a longer time. */
export function mayServeStale(answer: KeptAnswer, now: number, policy: StalePolicy): boolean {
  const directives = directivesOf(answer.headers);
  if (directives.has("no-cache") || directives.has("must-revalidate")) return false;
  const declared = directives.get("stale-if-error");
  const allowed =
    declared === undefined ? policy.staleIfError : Math.max(secondsOf(declared) * 1000, policy.staleIfError);
  return ageOf(answer, now) - lifetimeOf(answer.headers, policy.defaultTtl) < allowed;
}

/** The conditional headers that revalidate a cached response; none if it has neither `ETag` nor `Last-Modified`. */
export function conditionsFor(headers: Headers): Readonly<Record<string, string>> {
  const etag = headers.get("etag");
  const modified = headers.get("last-modified");
  return {
    ...(etag !== null && { "if-none-match": etag }),
    ...(modified !== null && { "if-modified-since": modified }),
  };
}

/** The headers of a cached response after a 304: the new ones replace the old ones, except those about the content. */
export function confirmed(kept: Headers, confirmation: Headers): Headers {
  const headers = new HeaderFields(kept);
  // The old `Age` no longer applies.
  headers.delete("age");
  for (const [name, value] of confirmation)
    if (!/^(content-(encoding|length|range|type)|transfer-encoding)$/.test(name)) headers.set(name, value);
  return headers;
}
