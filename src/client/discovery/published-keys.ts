import type { KeySet } from "../../auth/detached-signature.ts";
import { createClock } from "../../internal/clock.ts";
import type { Guard } from "../http/contract.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";
import { isPrivateWay } from "../http/safe-address.ts";
import { guardOf } from "../http/url-guard.ts";
import { lifetimeOf } from "./freshness.ts";

/** Milliseconds for which keys are used without looking again, whatever their server allows: a key that is withdrawn must go. */
const LONGEST_LIFE = 10 * 60_000;
/** Milliseconds for which a place is not asked again about a key that it does not have. Cards name keys that nobody has for free. */
const COOL_DOWN = 30_000;
/** Any card may name any path of a trusted host. */
const MAX_PLACES = 64;

interface KeptKeys {
  readonly keys: KeySet["keys"];
  readonly fetchedAt: number;
  readonly freshUntil: number;
}

/** Where keys are published, and who may publish them. */
export interface KeyPlace {
  readonly url: URL;
  /** No other host is asked, whoever sends there. */
  readonly hosts: readonly string[];
}

/** What was fetched, by what fetched it: whoever brings their own way to the network has their own keys. */
const keptBy = new WeakMap<typeof fetch, Map<string, KeptKeys>>();

/** The keys published at a place, among them the one of that id, if it has it. Kept for a while. */
export async function publishedKeys(kid: string, place: KeyPlace, options: FetchOptions): Promise<KeySet["keys"]> {
  const { clock = createClock() } = options;
  const kept = keptFor(options.fetch ?? fetch);
  // What one caller trusts a host to send on to, another may not.
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

function keptFor(way: typeof fetch): Map<string, KeptKeys> {
  const kept = keptBy.get(way) ?? new Map<string, KeptKeys>();
  keptBy.set(way, kept);
  return kept;
}

function isCurrent({ keys, fetchedAt, freshUntil }: KeptKeys, kid: string, now: number): boolean {
  // A clock that was set back says nothing about how old they are.
  if (now < fetchedAt) return false;
  return keys.some((key) => key.kid === kid) ? now < freshUntil : now < fetchedAt + COOL_DOWN;
}

async function fetchKeys({ url, hosts }: KeyPlace, options: FetchOptions, now: number): Promise<KeptKeys> {
  // A trusted host that sends on to another one does not make that one trusted.
  const { headers: _notForOthers, ...rest } = { ...options, guard: onlyThese(hosts, guardOf(options.guard)) };
  const request = { headers: { accept: "application/json" }, isPublic: true };
  const { status, headers, text } = await fetchDocument(url, request, rest);
  const listed = status === 200 ? jsonObject(text)?.["keys"] : undefined;
  if (!Array.isArray(listed)) throw new Error("its key could not be fetched");
  const keys = listed.filter((key: unknown): key is KeySet["keys"][number] => isKey(key));
  return { keys, fetchedAt: now, freshUntil: now + Math.min(lifetimeOf(headers, LONGEST_LIFE), LONGEST_LIFE) };
}

function onlyThese(hosts: readonly string[], guard: Guard | undefined): Guard {
  return async (url) => {
    await guard?.(url);
    if (!hosts.includes(url.host) || !isPrivateWay(url)) throw new Error("its key is at a host that is not trusted");
  };
}

function isKey(key: unknown): boolean {
  return typeof key === "object" && key !== null && "kty" in key && typeof key.kty === "string";
}
