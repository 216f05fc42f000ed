import type { AgentCard } from "../../protocol/card.ts";
import { A2AError, type FieldViolation } from "../../protocol/error.ts";
import { CARD_VERSION, type ParsedCard, readCard } from "../../wire/card/client-cards.ts";
import { codeOfStatus } from "../../wire/error-table.ts";
import { abortable } from "../http/abort.ts";
import type { Authorize } from "../http/contract.ts";
import { RemoteError } from "../http/errors.ts";
import type { DocumentAnswer } from "../http/fetch-document.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";
import { HeaderFields } from "../http/header-fields.ts";
import { shown } from "../http/redirect.ts";
import { guardOf } from "../http/url-guard.ts";
import { type CardCache, createCardCache } from "./card-cache.ts";
import { type CardPlace, cardPlaces, isReachedAt } from "./card-places.ts";
import type { CardVerification, verifyCard } from "./verify-card.ts";

/** Options of `discover`. */
export interface DiscoverOptions extends FetchOptions {
  /** Cache for cards. `false`: no cache. Default: one cache for all clients with the same `fetch` or `send`. */
  readonly cache?: CardCache | false | undefined;
  /** Revalidate a cached card even if it is fresh. Default false. */
  readonly revalidate?: boolean | undefined;
  /** Adds credentials, for agents that require them to show the card. Called only after a 401. Default: none. */
  readonly authorize?: Authorize | undefined;
  /** Accept only cards signed with these keys, and of those only the signed members. Default: signatures are not checked. */
  readonly verify?: CardVerification | undefined;
}

/** A card and its source. */
export interface Discovered {
  /** The card. */
  readonly card: AgentCard;
  /** The card's JSON as received. With `verify`, only the signed members. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The URL of the card. Absent if the card was passed as JSON. */
  readonly url?: string;
  /** Problems of the card that do not prevent its use. */
  readonly warnings: readonly FieldViolation[];
}

/**
 * Finds an agent's card by the URL of the agent or of the card, or reads a card that is passed as JSON. Rejects with a `RemoteError`:
 * `card-not-found` with the URLs that were tried, `invalid-card` with the invalid fields, `invalid-signature`, or a network error.
 */
export function discover(from: string | URL | object, options: DiscoverOptions = {}): Promise<Discovered> {
  return abortable(options.signal, () => find(from, options));
}

/** Tries one URL after the other; the first card that belongs to the agent wins. */
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

/** Each kind of failure once, with the URLs. */
function inShort(tried: ReadonlyMap<string, readonly string[]>): string {
  return Array.from(tried, ([found, places]) => `${found} at ${firstOf(places)}`).join("; ");
}

/** Shortens a list of URLs, which may be long. */
function firstOf([first = "nowhere", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Cards whose signature was verified. */
const verified = new WeakSet<AgentCard>();

/** Whether `discover` has verified the signature of this card object. */
export function wasVerified(card: AgentCard): boolean {
  return verified.has(card);
}

/** Rejects a user and a password in the URL: they would appear in errors and logs. */
function addressOf(from: string | URL): URL {
  const given = URL.canParse(from.toString()) ? new URL(from) : undefined;
  if (given?.protocol !== "https:" && given?.protocol !== "http:") {
    throw new RemoteError("card-not-found", "The URL of an agent must be an http or https URL.");
  }
  if (given.username !== "" || given.password !== "") {
    throw new RemoteError("card-not-found", "The URL of an agent must not contain a user or a password.");
  }
  return given;
}

/** A card that the caller passes as JSON. Relative URLs in it have no base. */
async function readGiven(json: object, { verify, ...options }: DiscoverOptions): Promise<Discovered> {
  // Safe: an object has members by name.
  const given = json as Readonly<Record<string, unknown>>;
  const signed = verify === undefined ? given : (await signedCard(given, verify, options)).json;
  const reading = understand(signed);
  if (verify !== undefined) verified.add(reading.card);
  return { ...reading, json: signed };
}

/** Loads what verifies signatures with the first one. */
const signedCard: typeof verifyCard = async (card, verification, options) =>
  (await import("./verify-card.ts")).verifyCard(card, verification, options);

/** Requests the card without credentials first, and with credentials after a 401. */
async function fetchCard({ url }: CardPlace, options: DiscoverOptions): Promise<DocumentAnswer> {
  const { authorize, signal = new AbortController().signal } = options;
  const headers = { ...BARE, "a2a-version": CARD_VERSION, ...options.headers };
  const answer = await fetchKept({ url, headers, isPublic: true }, options);
  if (answer.status !== 401 || authorize === undefined) return answer;
  const request = { url: new URL(url), headers: new HeaderFields(headers) };
  const challenge = { status: 401, authenticate: answer.headers.get("www-authenticate") ?? undefined };
  if ((await authorize(request, { operation: "card", signal, challenge })) === false) return answer;
  // With credentials, redirects to other origins are not followed.
  return fetchKept({ url: request.url, headers: Object.fromEntries(request.headers), isPublic: false }, options);
}

/** Headers that browsers send to other origins without a preflight. */
const BARE = { accept: "application/json, application/a2a+json;q=0.9" };

type Fields = Readonly<Record<string, string>>;

interface CardRequest {
  readonly url: URL;
  readonly headers: Fields;
  /** The request has no credentials, so redirects to other origins may be followed. */
  readonly isPublic: boolean;
}

/** Retries without custom headers: browsers preflight those, and many servers do not allow them. */
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
  const cache = options.cache ?? sharedCache(options.send ?? options.fetch ?? globalThis.fetch);
  const answer = await cache.get({ url: url.href, headers, signal, revalidate }, load);
  // The cached response may come from a client without a guard.
  await guardOf(options.guard)?.(new URL(answer.url));
  return answer;
}

function isPreflightFailure(error: unknown): boolean {
  // Only web pages have a `location`, and only their requests can fail in a preflight.
  const isPage = "location" in globalThis;
  return isPage && error instanceof RemoteError && error.code === "network" && error.cause instanceof TypeError;
}

/** The default of `DiscoverOptions.cache`. */
const sharedCaches = new WeakMap<WeakKey, CardCache>();

/** One cache per `fetch` or `send`: different functions may reach different servers. */
function sharedCache(by: WeakKey): CardCache {
  const cache = sharedCaches.get(by) ?? createCardCache();
  sharedCaches.set(by, cache);
  return cache;
}

/** Where the answer came from, and which agent is searched for. */
interface ReadOptions extends DiscoverOptions {
  readonly place: CardPlace;
  readonly given: URL;
}

/** HTTP statuses that mean: no card at this URL. With any other error, the search stops. */
const NOT_HERE: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 501]);

/** The card, or a short reason why this URL has none. */
async function read(answer: DocumentAnswer, options: ReadOptions): Promise<Discovered | string> {
  const { place, given, verify } = options;
  const { status, text, url } = answer;
  if (NOT_HERE.has(status)) return `HTTP ${status}`;
  if (status !== 200) throw refused(place.url, answer);
  const json = jsonObject(text);
  if (json === undefined) return "no JSON object";
  const signed = verify === undefined ? json : (await signedCard(json, verify, options)).json;
  const reading = understand(signed, url);
  if (place.isAbove && !isReachedAt(reading.card.interfaces, given)) {
    return `the card of another agent (${firstOf(reading.card.interfaces.map((way) => way.url))})`;
  }
  if (verify !== undefined) verified.add(reading.card);
  return { ...reading, json: signed, url };
}

/** Turns errors of the decoder into `invalid-card`, with the URL of the card. */
function understand(json: object, url?: string): ParsedCard {
  try {
    return readCard(json, url);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    const where = url === undefined ? "" : ` (${shown(new URL(url))})`;
    throw new RemoteError("invalid-card", `${error.message}${where}`, { violations: error.violations, cause: error });
  }
}

/** Ends the search: a server that requires credentials or fails may well have the card. */
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
