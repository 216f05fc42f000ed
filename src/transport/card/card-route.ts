import { createHash } from "node:crypto";
import type { Signer } from "../../auth/create-signer.ts";
import type { AgentCard } from "../../protocol/card.ts";
import type { Service } from "../../server/service.ts";
import type { CardCodec } from "../../wire/codec.ts";
import { type Exchange, type FullReply, jsonReply } from "../exchange.ts";
import { requestedVersion } from "../service-parameters.ts";
import { hasTag } from "./entity-tag.ts";
import { signCard } from "./sign-card.ts";

const MAX_AGE_SECONDS = 300;

/** A card as served: encoded and signed once per service and variant. */
interface PublishedCard {
  readonly text: string;
  readonly etag: string;
  /** The value of `Last-Modified`: milliseconds since 1970, in whole seconds. */
  readonly madeAt: number;
}

/** A published card, the card it was made of, and the id of the key that signed it, if any. */
interface Made {
  readonly from: AgentCard;
  readonly kid: string | undefined;
  readonly card: Promise<PublishedCard>;
}

const PUBLISHED = new WeakMap<Service, Map<string, Made>>();

/** How cards are signed. */
export interface CardSigning {
  readonly signer: Signer;
  /** The URL of the published keys. */
  keysUrl(exchange: Exchange): string;
}

/** How the cards at one path are served. */
export interface CardSource {
  /** The codec for a reader that requests this version, or none. */
  choose(requested: string | undefined): CardCodec;
  /** Request headers besides `A2A-Version` that a card depends on, as in `Vary`. */
  readonly vary: string;
  /** Only some callers may read the cards. */
  readonly isPrivate: boolean;
  /** Absent: they are not signed. */
  readonly signing?: CardSigning | undefined;
}

/** Serves the card in the format of the reader's version. */
export async function serveCard(source: CardSource, service: Service, exchange: Exchange): Promise<FullReply> {
  const { choose, vary, isPrivate } = source;
  const card = await published(service, choose(requestedVersion(exchange)), { source, exchange });
  const headers = {
    etag: card.etag,
    "last-modified": new Date(card.madeAt).toUTCString(),
    "cache-control": `${isPrivate ? "private" : "public"}, max-age=${MAX_AGE_SECONDS}`,
    vary: vary === "" ? "A2A-Version" : `A2A-Version, ${vary}`,
  };
  if (isKnown(exchange, card)) return { status: 304, headers, body: "" };
  return jsonReply(200, card.text, headers);
}

/** True if the reader already has this card. `If-Modified-Since` counts only without `If-None-Match` (RFC 9110 §13.2.2). */
function isKnown(exchange: Exchange, { etag, madeAt }: PublishedCard): boolean {
  const tags = exchange.header("if-none-match");
  if (tags !== undefined) return hasTag(tags, etag);
  const since = exchange.header("if-modified-since");
  return since !== undefined && Date.parse(since) >= madeAt;
}

interface Reading {
  readonly source: CardSource;
  readonly exchange: Exchange;
}

/** The cached card. A service has one address, so the URL of its keys does not change either. */
function published(service: Service, codec: CardCodec, { source, exchange }: Reading): Promise<PublishedCard> {
  const variants = PUBLISHED.get(service) ?? new Map<string, Made>();
  PUBLISHED.set(service, variants);
  const { signing } = source;
  const kid = signing?.signer.kid;
  const from = service.card;
  const known = variants.get(codec.variant);
  if (known !== undefined && known.kid === kid && known.from === from) return known.card;
  const text = codec.encodeCard(from);
  const card = signing === undefined ? text : signCard(text, signing.signer, signing.keysUrl(exchange));
  const made = { from, kid, card: Promise.resolve(card).then(withTag) };
  variants.set(codec.variant, made);
  // The next request tries again.
  made.card.catch(() => variants.delete(codec.variant));
  return made.card;
}

function withTag(text: string): PublishedCard {
  const madeAt = Math.floor(Date.now() / 1000) * 1000;
  return { text, madeAt, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}
