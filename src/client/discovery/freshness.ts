// How long an answer may be used again, by RFC 9111, from the point of view of a cache that serves one user.

/** An answer as it is kept, and when it was asked for and came, in milliseconds since 1970. */
export interface KeptAnswer {
  readonly headers: Headers;
  readonly requestedAt: number;
  readonly receivedAt: number;
}

export type CacheDirectives = ReadonlyMap<string, string>;

/** The directives by their names in lower case; of one that comes twice the first counts. Those without a value have an empty one. */
export function cacheDirectives(header: string | null): CacheDirectives {
  const directives = new Map<string, string>();
  for (const [, name = "", quoted, bare] of (header ?? "").matchAll(DIRECTIVE)) {
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, quoted ?? bare ?? "");
  }
  return directives;
}

const DIRECTIVE = /([!#$%&'*+\-.^_`|~\w]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

/** The directives of an answer. Before there were any, `Pragma` said the one thing it could. */
export function directivesOf(headers: Headers): CacheDirectives {
  const control = headers.get("cache-control");
  if (control === null && /\bno-cache\b/i.test(headers.get("pragma") ?? "")) return new Map([["no-cache", ""]]);
  return cacheDirectives(control);
}

/** Whether it may be kept at all. One that differs by what nobody can know (`Vary: *`) would never be used. */
export function mayKeep(headers: Headers): boolean {
  return !directivesOf(headers).has("no-store") && !variesBy(headers).includes("*");
}

/** The request headers, in lower case, that an answer depends on. */
export function variesBy(headers: Headers): readonly string[] {
  const names = (headers.get("vary") ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** How many milliseconds an answer stays fresh from when it was made; `fallback` where it does not say. */
export function lifetimeOf(headers: Headers, fallback: number): number {
  const directives = directivesOf(headers);
  if (directives.has("no-cache")) return 0;
  const maxAge = directives.get("max-age");
  if (maxAge !== undefined) return secondsOf(maxAge) * 1000;
  const expires = headers.get("expires");
  if (expires === null) return fallback;
  // A date that is none is one that is past.
  const until = Date.parse(expires);
  const from = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(until) || Number.isNaN(from) ? 0 : Math.max(until - from, 0);
}

/** What cannot be understood makes an answer stale rather than fresh. */
function secondsOf(text: string): number {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : 0;
}

/** As the RFC has it for numbers that are too large. */
const MAX_SECONDS = 2 ** 31;

/** How many milliseconds ago an answer was made, where it came from other caches as well. */
export function ageOf({ headers, requestedAt, receivedAt }: KeptAnswer, now: number): number {
  const made = Date.parse(headers.get("date") ?? "");
  const apparent = Number.isNaN(made) ? 0 : Math.max(receivedAt - made, 0);
  const told = secondsOf((headers.get("age") ?? "").trim()) * 1000;
  return Math.max(apparent, told + receivedAt - requestedAt) + Math.max(now - receivedAt, 0);
}

export interface StalePolicy {
  /** Milliseconds of freshness where the answer does not say. */
  readonly defaultTtl: number;
  /** Milliseconds past freshness for which it may still serve where nothing better can be had. */
  readonly staleIfError: number;
}

export function isFresh(answer: KeptAnswer, now: number, { defaultTtl }: StalePolicy): boolean {
  return ageOf(answer, now) < lifetimeOf(answer.headers, defaultTtl);
}

/** Whether an answer that is no longer fresh may serve because asking again has failed. The answer may forbid it, or allow more. */
export function mayServeStale(answer: KeptAnswer, now: number, policy: StalePolicy): boolean {
  const directives = directivesOf(answer.headers);
  if (directives.has("no-cache") || directives.has("must-revalidate")) return false;
  const told = directives.get("stale-if-error");
  const allowed = told === undefined ? policy.staleIfError : Math.max(secondsOf(told) * 1000, policy.staleIfError);
  return ageOf(answer, now) - lifetimeOf(answer.headers, policy.defaultTtl) < allowed;
}

/** The headers that ask whether a kept answer still holds; none where it has nothing to ask by. */
export function conditionsFor(headers: Headers): Readonly<Record<string, string>> {
  const etag = headers.get("etag");
  const modified = headers.get("last-modified");
  return {
    ...(etag !== null && { "if-none-match": etag }),
    ...(modified !== null && { "if-modified-since": modified }),
  };
}

/** A kept answer's headers after an answer of 304, which replaces those it names; but those of the content stay. */
export function confirmed(kept: Headers, told: Headers): Headers {
  const headers = new Headers(kept);
  // How old it was before is no longer true.
  headers.delete("age");
  for (const [name, value] of told)
    if (!/^(content-(encoding|length|range|type)|transfer-encoding)$/.test(name)) headers.set(name, value);
  return headers;
}
