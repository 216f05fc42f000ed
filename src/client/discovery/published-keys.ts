// Fetches the public keys that a card's signature names (`jku`), from trusted hosts only, and caches them.

import type { KeySet } from "../../auth/detached-signature.ts";
import { createClock } from "../../internal/clock.ts";
import type { Guard } from "../http/contract.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";
import { isPrivateWay } from "../http/safe-address.ts";
import { guardOf } from "../http/url-guard.ts";
import { lifetimeOf } from "./freshness.ts";

/** Milliseconds for which keys are cached, whatever their server allows: a withdrawn key must become invalid. */
const LONGEST_LIFE = 10 * 60_000;
/** Milliseconds before a URL is fetched again for a key that it did not have. Otherwise cards with invented key ids would cause a request each. */
const COOL_DOWN = 30_000;
/** Limits the cache: a card may name any path of a trusted host. */
const MAX_PLACES = 64;

/** Times are in milliseconds since 1970. */
interface KeptKeys {
  readonly keys: KeySet["keys"];
  readonly fetchedAt: number;
  readonly freshUntil: number;
}

/** The URL of published keys, and the trusted hosts. */
export interface KeyPlace {
  readonly url: URL;
  /** Only these hosts are called, also after redirects. */
  readonly hosts: readonly string[];
}

/** Cached keys by `fetch` or `send`: different functions may reach different servers. */
const keptBy = new WeakMap<WeakKey, Map<string, KeptKeys>>();

/** The keys published at a URL, from the cache unless it lacks the key of this id. */
export async function publishedKeys(kid: string, place: KeyPlace, options: FetchOptions): Promise<KeySet["keys"]> {
  const { clock = createClock() } = options;
  const kept = keptFor(options.send ?? options.fetch ?? fetch);
  // Callers may trust different hosts, so the trusted hosts are part of the key.
  const name = JSON.stringify([place.url.href, place.hosts.toSorted()]);
  const known = kept.get(name);
  const now = clock.now();
  if (known !== undefined && isCurrent(known, kid, now)) return known.keys;
  const fetched = await fetchKeys(place, options, now);
  kept.delete(name);
  kept.set(name, fetched);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_PLACES) break;
    kept.delete(oldest);
  }
  return fetched.keys;
}

function keptFor(way: WeakKey): Map<string, KeptKeys> {
  const kept = keptBy.get(way) ?? new Map<string, KeptKeys>();
  keptBy.set(way, kept);
  return kept;
}

/** Keys that lack the wanted id are used only during the cool-down: the signer may have published a new key. */
function isCurrent({ keys, fetchedAt, freshUntil }: KeptKeys, kid: string, now: number): boolean {
  // If the clock was set back, the age is unknown.
  if (now < fetchedAt) return false;
  return keys.some((key) => key.kid === kid) ? now < freshUntil : now < fetchedAt + COOL_DOWN;
}

async function fetchKeys({ url, hosts }: KeyPlace, options: FetchOptions, now: number): Promise<KeptKeys> {
  // A redirect from a trusted host does not make its target trusted.
  const { headers: _notForOthers, ...rest } = { ...options, guard: onlyThese(hosts, guardOf(options.guard)) };
  const request = { headers: { accept: "application/json" }, isPublic: true };
  const { status, headers, text } = await fetchDocument(url, request, rest);
  const listed = status === 200 ? jsonObject(text)?.["keys"] : undefined;
  if (!Array.isArray(listed)) throw new Error("its key could not be fetched");
  const keys = listed.filter((key: unknown): key is KeySet["keys"][number] => isKey(key));
  return { keys, fetchedAt: now, freshUntil: now + Math.min(lifetimeOf(headers, LONGEST_LIFE), LONGEST_LIFE) };
}

/** Also applied to redirects. Unencrypted URLs are refused: anybody on the way could replace the keys. */
function onlyThese(hosts: readonly string[], guard: Guard | undefined): Guard {
  return async (url) => {
    await guard?.(url);
    if (!hosts.includes(url.host) || !isPrivateWay(url)) throw new Error("its key is at a host that is not trusted");
  };
}

function isKey(key: unknown): boolean {
  return typeof key === "object" && key !== null && "kty" in key && typeof key.kty === "string";
}
