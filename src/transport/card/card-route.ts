import { createHash } from "node:crypto";
import type { Signer } from "../../auth/create-signer.ts";
import type { Service } from "../../server/service.ts";
import type { CardCodec } from "../../wire/codec.ts";
import { type Exchange, type FullReply, jsonReply } from "../exchange.ts";
import { requestedVersion } from "../service-parameters.ts";
import { hasTag } from "./entity-tag.ts";
import { signCard } from "./sign-card.ts";

const MAX_AGE_SECONDS = 300;

/** A card as it is served: made, and signed, once per service and variant, and told apart by its hash. */
interface PublishedCard {
  readonly text: string;
  readonly etag: string;
  /** When it was made, in whole seconds, as milliseconds since the epoch: for readers that go by time. */
  readonly madeAt: number;
}

/** With the key it is signed with, where it is. */
interface Made {
  readonly kid: string | undefined;
  readonly card: Promise<PublishedCard>;
}

const PUBLISHED = new WeakMap<Service, Map<string, Made>>();

/** How cards are signed. */
export interface CardSigning {
  readonly signer: Signer;
  /** Where the reader finds the keys. */
  keysUrl(exchange: Exchange): string;
}

/** What the cards at one path have in common. */
export interface CardSource {
  /** The shape for a reader that names this version, or none. */
  choose(requested: string | undefined): CardCodec;
  /** Request headers besides the version's that a card depends on, as `Vary` lists them. */
  readonly vary: string;
  /** Not everybody may read them. */
  readonly isPrivate: boolean;
  /** Absent: they are not signed. */
  readonly signing?: CardSigning | undefined;
}

/** The card in the shape the reader's version wants. */
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

/** Whether the reader has this very card. The time counts only where no tag is named. */
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

/** A service is reached at one address, so that where its keys are found does not change either. */
function published(service: Service, codec: CardCodec, { source, exchange }: Reading): Promise<PublishedCard> {
  const variants = PUBLISHED.get(service) ?? new Map<string, Made>();
  PUBLISHED.set(service, variants);
  const { signing } = source;
  const kid = signing?.signer.kid;
  const known = variants.get(codec.variant);
  if (known !== undefined && known.kid === kid) return known.card;
  const text = codec.encodeCard(service.card);
  const card = signing === undefined ? text : signCard(text, signing.signer, signing.keysUrl(exchange));
  const made = { kid, card: Promise.resolve(card).then(withTag) };
  variants.set(codec.variant, made);
  // Who asks next tries again.
  made.card.catch(() => variants.delete(codec.variant));
  return made.card;
}

function withTag(text: string): PublishedCard {
  const madeAt = Math.floor(Date.now() / 1000) * 1000;
  return { text, madeAt, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}
