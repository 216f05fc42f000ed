import { type Clock, createClock } from "../../internal/clock.ts";
import type { DocumentAnswer } from "../http/fetch-document.ts";
import { HeaderFields } from "../http/header-fields.ts";
import { SingleFlight } from "../http/single-flight.ts";
import {
  conditionsFor,
  confirmed,
  isFresh,
  type KeptAnswer,
  mayKeep,
  mayServeStale,
  type StalePolicy,
  variesBy,
} from "./freshness.ts";

/** A request for a document, as a cache needs it. */
export interface DocumentRequest {
  readonly url: string;
  /** Responses are cached per value of the headers that they vary by. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Revalidate even if the cached response is fresh. */
  readonly revalidate?: boolean | undefined;
}

/** Requests the document with these headers. */
export type LoadDocument = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<DocumentAnswer>;

/** Options of `createCardCache`. */
export interface CardCacheOptions {
  /** How many responses are cached. Default 200. */
  readonly maxEntries?: number;
  /** How many characters they may have in total. Default 16 Mi. */
  readonly maxLength?: number;
  /** Milliseconds for which a response without cache headers is fresh. Default 300 000 (5 minutes). */
  readonly defaultTtl?: number;
  /** Milliseconds for which a stale response may be used if the agent cannot be reached. Default 0: never. */
  readonly staleIfError?: number;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock;
}

/** A cache of agent cards according to RFC 9111. Several clients may share one. */
export interface CardCache {
  /** The cached response, else the response of `load`. Concurrent requests for the same document share one load. */
  get(request: DocumentRequest, load: LoadDocument): Promise<DocumentAnswer>;
  /** Removes all cached responses. */
  clear(): void;
  /** Number of cached responses. */
  readonly size: number;
}

/** A cached response and the request it answers. */
interface Entry extends KeptAnswer, DocumentAnswer {
  /** The headers of the request. */
  readonly asked: Readonly<Record<string, string>>;
  /** The requested URL. `url` is the one after redirects. */
  readonly requestUrl: string;
}

/** Creates a cache for `connect` and `discover`. */
export function createCardCache(options: CardCacheOptions = {}): CardCache {
  return new MemoryCardCache(options);
}

class MemoryCardCache implements CardCache {
  /** By URL and distinguishing headers; the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new SingleFlight<DocumentAnswer>();
  readonly #policy: StalePolicy;
  readonly #maxEntries: number;
  readonly #maxLength: number;
  readonly #clock: Clock;
  #length = 0;

  constructor({
    maxEntries = 200,
    maxLength = 16 * 1024 * 1024,
    defaultTtl = 300_000,
    staleIfError = 0,
    clock,
  }: CardCacheOptions) {
    this.#policy = { defaultTtl, staleIfError };
    this.#maxEntries = maxEntries;
    this.#maxLength = maxLength;
    this.#clock = clock ?? createClock();
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#length = 0;
  }

  async get(request: DocumentRequest, load: LoadDocument): Promise<DocumentAnswer> {
    const [key, kept] = this.#find(request) ?? [];
    if (key !== undefined && kept !== undefined && request.revalidate !== true) {
      if (isFresh(kept, this.#clock.now(), this.#policy)) {
        this.#touch(key, kept);
        return kept;
      }
    }
    const flight = keyOf(request, Object.keys(request.headers));
    return this.#loads.run(flight, request.signal, (signal) => this.#load(request, kept, { load, signal }));
  }

  /** Revalidates a cached response if there is one (RFC 9111 §4.3). A failed request or a 5xx may be answered with the stale response. */
  async #load(
    request: DocumentRequest,
    kept: Entry | undefined,
    { load, signal }: { readonly load: LoadDocument; readonly signal: AbortSignal },
  ): Promise<DocumentAnswer> {
    const requestedAt = this.#clock.now();
    const conditions = kept === undefined ? {} : conditionsFor(kept.headers);
    let answer: DocumentAnswer;
    try {
      answer = await load({ ...request.headers, ...conditions }, signal);
    } catch (error) {
      if (kept !== undefined && !signal.aborted && mayServeStale(kept, this.#clock.now(), this.#policy)) return kept;
      throw error;
    }
    const receivedAt = this.#clock.now();
    if (kept !== undefined && answer.status === 304) {
      const headers = confirmed(kept.headers, answer.headers);
      return this.#keep({ ...kept, headers, requestedAt, receivedAt });
    }
    if (kept !== undefined && answer.status >= 500 && mayServeStale(kept, receivedAt, this.#policy)) return kept;
    if (kept !== undefined) this.#drop(entryKey(kept));
    if (answer.status !== 200) return answer;
    return this.#keep({ ...answer, asked: request.headers, requestUrl: request.url, requestedAt, receivedAt });
  }

  /** The cached response to the same URL with the same values of all headers that it varies by. */
  #find(request: DocumentRequest): readonly [string, Entry] | undefined {
    for (const [key, entry] of this.#entries) {
      if (entry.requestUrl === request.url && key === keyOf(request, variesBy(entry.headers))) return [key, entry];
    }
    return undefined;
  }

  /** Stores the response if it may be stored, and removes the least recently used ones above the limits. Returns it in any case. */
  #keep(entry: Entry): Entry {
    const key = entryKey(entry);
    this.#drop(key);
    if (!mayKeep(entry.headers) || entry.text.length > this.#maxLength) return entry;
    this.#entries.set(key, entry);
    this.#length += entry.text.length;
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#length <= this.#maxLength) break;
      this.#drop(oldest);
    }
    return entry;
  }

  #touch(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #drop(key: string): void {
    this.#length -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }
}

/** Headers that do not identify the caller. They are part of the key only if the response varies by them. */
const NEUTRAL_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-language", "a2a-version", "user-agent"]);

function entryKey({ requestUrl, asked, headers }: Entry): string {
  return keyOf({ url: requestUrl, headers: asked }, variesBy(headers));
}

/** Headers that may identify the caller are always part of the key: one caller's response must not reach another. */
function keyOf({ url, headers }: Pick<DocumentRequest, "url" | "headers">, names: readonly string[]): string {
  const asked = new HeaderFields(headers);
  const personal = [...asked.keys()].filter((name) => !NEUTRAL_HEADERS.has(name));
  const unique = [...new Set([...names.map((name) => name.toLowerCase()), ...personal])].sort();
  return JSON.stringify([url, ...unique.map((name) => [name, asked.get(name)])]);
}
