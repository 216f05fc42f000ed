import { createClock } from "../../internal/clock.ts";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { FieldViolation } from "../../protocol/error.ts";
import { CARD_PATHS, CARD_VERSION } from "../../wire/card/client-cards.ts";
import { ExternalServiceError, ValidationError } from "../../wire/plain/named-errors.ts";
import { abortable } from "../http/abort.ts";
import { RemoteError } from "../http/errors.ts";
import { type FetchOptions, fetchDocument, jsonObject } from "../http/fetch-document.ts";

/** A remote agent's card as received. Only these members are guaranteed. */
export interface FetchedAgentCard extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly version: string;
}

interface Kept {
  readonly card: FetchedAgentCard;
  readonly fetchedAt: number;
}

/** Milliseconds for which a card is cached, whatever the server allows. */
const LIFETIME = 300_000;
/** Limits the cache: URLs may come from untrusted sources. */
const MAX_KEPT = 1000;

/** Global, because `clearAgentCardCache` is global. */
const kept = new Map<string, Kept>();
const clock = createClock();

/**
 * Reads an agent's card from `/.well-known/agent-card.json` below the URL, and caches it for 5 minutes. Rejects with an `ExternalServiceError`, with the
 * HTTP status, if the card cannot be read; with a `ValidationError`, with the fields, if it has no name or version; and with a `RemoteError` of code
 * `aborted` if the signal aborts. To respect the server's cache headers and to find cards at other URLs, use `connect`.
 */
export function fetchAgentCard(baseUrl: string, options: FetchOptions = {}): Promise<FetchedAgentCard> {
  return abortable(options.signal, () => keptCard(baseUrl, options));
}

/** Expired entries are removed on every miss, the oldest one when the cache is full. */
async function keptCard(baseUrl: string, options: FetchOptions): Promise<FetchedAgentCard> {
  const time = (options.clock ?? clock).now();
  const base = withoutTrailing(baseUrl, "/");
  const found = kept.get(base);
  if (found !== undefined && isFresh(found, time)) return found.card;
  for (const [key, entry] of kept) if (!isFresh(entry, time)) kept.delete(key);
  const card = await fetchCard(base, options);
  kept.delete(base);
  kept.set(base, { card, fetchedAt: time });
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return card;
}

/** A card from the future is not fresh: the clock was set back, and the age is unknown. */
function isFresh({ fetchedAt }: Kept, time: number): boolean {
  return time - fetchedAt < LIFETIME && time >= fetchedAt;
}

/** Reads an agent's card like `fetchAgentCard`, but resolves with `null` if it cannot be read for any reason. */
export async function discoverAgent(baseUrl: string, options?: FetchOptions): Promise<FetchedAgentCard | null> {
  try {
    return await fetchAgentCard(baseUrl, options);
  } catch {
    // `fetchAgentCard` reports the reason.
    return null;
  }
}

/** Empties the cache of `fetchAgentCard` and `discoverAgent`. */
export function clearAgentCardCache(): void {
  kept.clear();
}

/** Does not look at other URLs and does not revalidate, unlike `discover`. */
async function fetchCard(base: string, options: FetchOptions): Promise<FetchedAgentCard> {
  const address = base + CARD_PATHS[0];
  if (!URL.canParse(address)) {
    const description = "must be an http or https URL";
    throw new ValidationError(`baseUrl: ${description}`, [{ field: "baseUrl", description }]);
  }
  const headers = { accept: "application/json", "a2a-version": CARD_VERSION, ...options.headers };
  const answer = await fetchDocument(new URL(address), { headers, isPublic: true }, options).catch((error: unknown) => {
    const reason = error instanceof RemoteError ? error.message : "it could not be reached";
    throw new ExternalServiceError(`Failed to fetch agent card: ${reason}`, { cause: error });
  });
  const { status, text } = answer;
  if (status < 200 || status > 299)
    throw new ExternalServiceError(`Failed to fetch agent card: HTTP ${status}`, { status });
  return checked(jsonObject(text));
}

function checked(json: Readonly<Record<string, unknown>> | undefined): FetchedAgentCard {
  if (json === undefined) throw invalid([{ field: "card", description: "must be a JSON object" }]);
  const { name, version } = json;
  if (isText(name) && isText(version)) return { ...json, name, version };
  const missing = [...(isText(name) ? [] : ["name"]), ...(isText(version) ? [] : ["version"])];
  throw invalid(missing.map((field) => ({ field, description: "is required" })));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function invalid(violations: readonly FieldViolation[]): ValidationError {
  const faults = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new ValidationError(`Invalid agent card: ${faults}`, violations);
}
