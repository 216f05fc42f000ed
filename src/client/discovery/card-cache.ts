import { type Clock, createClock } from "../../internal/clock.ts";
import type { DocumentAnswer } from "../http/fetch-document.ts";
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

export interface DocumentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Ask again even where a kept answer is still fresh. */
  readonly revalidate?: boolean | undefined;
}

/** Asks for the document, with these headers. */
export type LoadDocument = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<DocumentAnswer>;

export interface CardCacheOptions {
  /** How many answers are kept. Default 200. */
  readonly maxEntries?: number;
  /** How many characters they may have together. Default 16 Mi. */
  readonly maxLength?: number;
  /** Milliseconds for which an answer is fresh that does not say. Default 5 minutes. */
  readonly defaultTtl?: number;
  /** Milliseconds for which an old answer serves where the agent cannot be reached. Default 0: not at all. */
  readonly staleIfError?: number;
  readonly clock?: Clock;
}

/** Cards as they were answered, to be used again as RFC 9111 allows. Several callers may share one. */
export interface CardCache {
  /** The kept answer, or that of `load`. Those who ask for the same at the same time get the same. */
  get(request: DocumentRequest, load: LoadDocument): Promise<DocumentAnswer>;
  clear(): void;
  readonly size: number;
}

interface Entry extends KeptAnswer, DocumentAnswer {
  /** The request that it answers. */
  readonly asked: Readonly<Record<string, string>>;
  readonly requestUrl: string;
}

export function createCardCache(options: CardCacheOptions = {}): CardCache {
  return new MemoryCardCache(options);
}

class MemoryCardCache implements CardCache {
  /** By address and what distinguishes the request; the least recently used first. */
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

  /** The kept answer to a request like this one: one to the same address, alike in all headers that it depends on. */
  #find(request: DocumentRequest): readonly [string, Entry] | undefined {
    for (const [key, entry] of this.#entries) {
      if (entry.requestUrl === request.url && key === keyOf(request, variesBy(entry.headers))) return [key, entry];
    }
    return undefined;
  }

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

const NEUTRAL_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-language", "a2a-version", "user-agent"]);

function entryKey({ requestUrl, asked, headers }: Entry): string {
  return keyOf({ url: requestUrl, headers: asked }, variesBy(headers));
}

/** What may show who asks is always part of it: an answer to one is not given to another. */
function keyOf({ url, headers }: Pick<DocumentRequest, "url" | "headers">, names: readonly string[]): string {
  const asked = new Headers(headers);
  const personal = [...asked.keys()].filter((name) => !NEUTRAL_HEADERS.has(name));
  const unique = [...new Set([...names.map((name) => name.toLowerCase()), ...personal])].sort();
  return JSON.stringify([url, ...unique.map((name) => [name, asked.get(name)])]);
}
