import { createHash } from "node:crypto";
import type { Service } from "../server/service.ts";
import type { CardCodec } from "../wire/codec.ts";
import { type Exchange, type FullReply, jsonReply } from "./exchange.ts";
import { requestedVersion } from "./service-parameters.ts";

const MAX_AGE_SECONDS = 300;

/** A card as it is served: made once per service and variant, told apart by its hash. */
interface PublishedCard {
  readonly text: string;
  readonly etag: string;
}

const PUBLISHED = new WeakMap<Service, Map<string, PublishedCard>>();

/** What the cards at one path have in common. */
export interface CardSource {
  /** The shape for a reader that names this version, or none. */
  choose(requested: string | undefined): CardCodec;
  /** Request headers besides the version's that a card depends on, as `Vary` lists them. */
  readonly vary: string;
}

/** The card in the shape the reader's version wants. */
export function serveCard({ choose, vary }: CardSource, service: Service, exchange: Exchange): FullReply {
  const card = published(service, choose(requestedVersion(exchange)));
  const headers = {
    etag: card.etag,
    "cache-control": `public, max-age=${MAX_AGE_SECONDS}`,
    vary: vary === "" ? "A2A-Version" : `A2A-Version, ${vary}`,
  };
  if (matches(exchange.header("if-none-match"), card.etag)) return { status: 304, headers, body: "" };
  return jsonReply(200, card.text, headers);
}

function published(service: Service, { variant, encodeCard }: CardCodec): PublishedCard {
  const variants = PUBLISHED.get(service) ?? new Map<string, PublishedCard>();
  PUBLISHED.set(service, variants);
  const known = variants.get(variant);
  if (known !== undefined) return known;
  const text = encodeCard(service.card);
  const card = { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
  variants.set(variant, card);
  return card;
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((candidate) => {
    const value = candidate.trim();
    return value === "*" || value === etag || value === `W/${etag}`;
  });
}
