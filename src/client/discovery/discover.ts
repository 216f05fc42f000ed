import type { AgentCard } from "../../protocol/card.ts";
import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import { CARD_VERSION, type ParsedCard, readCard } from "../../wire/card/client-cards.ts";
import { codeOfStatus } from "../../wire/error-table.ts";
import { abortable } from "../http/abort.ts";
import type { Authorize } from "../http/contract.ts";
import { RemoteError } from "../http/errors.ts";
import { shown } from "../http/redirect.ts";
import { type CardCache, createCardCache, type DocumentAnswer } from "./card-cache.ts";
import { type CardPlace, cardPlaces, isReachedAt } from "./card-places.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "./fetch-document.ts";
import { guardOf } from "./url-guard.ts";
import { type CardVerification, verifyCard } from "./verify-card.ts";

export interface DiscoverOptions extends FetchOptions {
  /** Where cards are kept. Default: one for all who use the same `fetch`. `false`: nowhere. */
  readonly cache?: CardCache | false | undefined;
  /** Ask the agent whether a kept card still holds, even if it is fresh. */
  readonly revalidate?: boolean | undefined;
  /** Shows who asks, to agents that want to know before they show their card. Asked only after a refusal. */
  readonly authorize?: Authorize | undefined;
  /** Take only cards with a signature that these keys made, and of them only what is signed. */
  readonly verify?: CardVerification | undefined;
}

/** A card, and where it is from. */
export interface Discovered {
  readonly card: AgentCard;
  /** As it was written. With `verify`, only what is signed. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The card's own address; absent where the card was given. */
  readonly url?: string;
  /** What is wrong with the card and does no harm. */
  readonly warnings: readonly FieldViolation[];
}

/**
 * Finds an agent's card by an address of the agent or of the card, or reads one that is at hand as JSON. Throws a `RemoteError`:
 * `card-not-found` with all that was tried, `invalid-card` with the fields at fault, `invalid-signature`, or what kept it from asking.
 */
export function discover(from: string | URL | object, options: DiscoverOptions = {}): Promise<Discovered> {
  return abortable(options.signal, () => find(from, options));
}

async function find(from: string | URL | object, options: DiscoverOptions): Promise<Discovered> {
  if (typeof from === "object" && !(from instanceof URL)) return readGiven(from, options);
  const given = addressOf(from);
  const tried = new Map<string, string[]>();
  for (const place of cardPlaces(given)) {
    const answer = await fetchCard(place, options);
    const found = await read(answer, { ...options, place, given });
    if (typeof found !== "string") return found;
    tried.set(found, [...(tried.get(found) ?? []), shown(place.url).slice(given.origin.length)]);
  }
  throw new RemoteError("card-not-found", `No agent card was found for ${shown(given)}: ${inShort(tried)}.`);
}

/** Each finding once, and where. */
function inShort(tried: ReadonlyMap<string, readonly string[]>): string {
  return Array.from(tried, ([found, places]) => `${found} at ${firstOf(places)}`).join("; ");
}

/** Addresses of strangers may be many. */
function firstOf([first = "nowhere", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Cards that are known to be signed. */
const verified = new WeakSet<AgentCard>();

/** Whether a card came out of here by way of its signature. */
export function wasVerified(card: AgentCard): boolean {
  return verified.has(card);
}

function addressOf(from: string | URL): URL {
  const given = URL.canParse(from.toString()) ? new URL(from) : undefined;
  if (given?.protocol !== "https:" && given?.protocol !== "http:") {
    throw new RemoteError("card-not-found", "The address of an agent must be an http or https URL.");
  }
  if (given.username !== "" || given.password !== "") {
    throw new RemoteError("card-not-found", "The address of an agent must not hold a user or a password.");
  }
  return given;
}

async function readGiven(json: object, { verify, ...options }: DiscoverOptions): Promise<Discovered> {
  // Whoever has an object has its members.
  const given = json as Readonly<Record<string, unknown>>;
  const signed = verify === undefined ? given : (await verifyCard(given, verify, options)).json;
  const reading = understand(signed);
  if (verify !== undefined) verified.add(reading.card);
  return { ...reading, json: signed };
}

/** Asks without credentials; with them where the card is not shown otherwise. */
async function fetchCard({ url }: CardPlace, options: DiscoverOptions): Promise<DocumentAnswer> {
  const { authorize, signal = new AbortController().signal } = options;
  const headers = { ...BARE, "a2a-version": CARD_VERSION, ...options.headers };
  const answer = await fetchKept({ url, headers, isPublic: true }, options);
  if (answer.status !== 401 || authorize === undefined) return answer;
  const request = { url: new URL(url), headers: new Headers(headers) };
  const challenge = { status: 401, authenticate: answer.headers.get("www-authenticate") ?? undefined };
  if ((await authorize(request, { operation: "card", signal, challenge })) === false) return answer;
  // With credentials, in its headers or its URL, it stays within the origin.
  return fetchKept({ url: request.url, headers: Object.fromEntries(request.headers), isPublic: false }, options);
}

const BARE = { accept: "application/json, application/a2a+json;q=0.9" };

type Fields = Readonly<Record<string, string>>;

interface CardRequest {
  readonly url: URL;
  readonly headers: Fields;
  /** Without credentials: a redirect may lead to another origin. */
  readonly isPublic: boolean;
}

/** Browsers ask for permission before they send a header that is not theirs, and many servers give none. */
async function fetchKept({ url, headers, isPublic }: CardRequest, options: DiscoverOptions): Promise<DocumentAnswer> {
  const load = async (sent: Fields, signal: AbortSignal | undefined): Promise<DocumentAnswer> => {
    try {
      return await fetchDocument(url, { headers: sent, isPublic }, { ...options, signal });
    } catch (error) {
      if (!isPreflightFailure(error)) throw error;
      const { "a2a-version": _version, "if-none-match": _etag, "if-modified-since": _date, ...plain } = sent;
      return fetchDocument(url, { headers: plain, isPublic }, { ...options, signal });
    }
  };
  const { signal, revalidate } = options;
  if (options.cache === false) return load(headers, signal);
  const cache = options.cache ?? sharedCache(options.fetch ?? globalThis.fetch);
  const answer = await cache.get({ url: url.href, headers, signal, revalidate }, load);
  // Somebody else may have asked, without a guard.
  await guardOf(options.guard)?.(new URL(answer.url));
  return answer;
}

function isPreflightFailure(error: unknown): boolean {
  // Only pages have a place that they are from, and requests of theirs that are not sent for want of permission.
  const isPage = "location" in globalThis;
  return isPage && error instanceof RemoteError && error.code === "network" && error.cause instanceof TypeError;
}

const sharedCaches = new WeakMap<typeof fetch, CardCache>();

/** One for each `fetch`: what one of them reaches need not be what another one does. */
function sharedCache(by: typeof fetch): CardCache {
  const cache = sharedCaches.get(by) ?? createCardCache();
  sharedCaches.set(by, cache);
  return cache;
}

interface ReadOptions extends DiscoverOptions {
  readonly place: CardPlace;
  readonly given: URL;
}

/** Statuses of servers that have no card at this place. Others mean that it cannot be known. */
const NOT_HERE: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 501]);

/** The card; or, in a few words, why there is none here. */
async function read(answer: DocumentAnswer, options: ReadOptions): Promise<Discovered | string> {
  const { place, given, verify } = options;
  const { status, text, url } = answer;
  if (NOT_HERE.has(status)) return `HTTP ${status}`;
  if (status !== 200) throw refused(place.url, answer);
  const json = jsonObject(text);
  if (json === undefined) return "no JSON object";
  const signed = verify === undefined ? json : (await verifyCard(json, verify, options)).json;
  const reading = understand(signed, url);
  if (place.isAbove && !isReachedAt(reading.card.interfaces, given)) {
    return `the card of another agent (${firstOf(reading.card.interfaces.map((way) => way.url))})`;
  }
  if (verify !== undefined) verified.add(reading.card);
  return { ...reading, json: signed, url };
}

function understand(json: object, url?: string): ParsedCard {
  try {
    return readCard(json, url);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    const where = url === undefined ? "" : ` (${shown(new URL(url))})`;
    throw new RemoteError("invalid-card", `${error.message}${where}`, { violations: error.violations, cause: error });
  }
}

function refused(url: URL, { status, headers }: DocumentAnswer): RemoteError {
  const authenticate = headers.get("www-authenticate") ?? undefined;
  const retryAfter = /^\d{1,9}$/.exec(headers.get("retry-after") ?? "")?.[0];
  return new RemoteError(
    codeOfStatus(status),
    `The agent card at ${shown(url)} could not be fetched: HTTP ${status}.`,
    {
      remote: {
        httpStatus: status,
        ...(authenticate !== undefined && { authenticate }),
        ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
      },
    },
  );
}
