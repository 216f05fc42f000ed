import { createHash } from "node:crypto";
import type { Service } from "../server/service.ts";
import { defaultCodec } from "../wire/select.ts";
import { type Exchange, type FullReply, jsonReply } from "./exchange.ts";

const MAX_AGE_SECONDS = 300;

/** A card as it is served: made once, told apart by its hash. */
export interface PublishedCard {
  readonly text: string;
  readonly etag: string;
}

export function publishCard(service: Service): PublishedCard {
  const text = defaultCodec.encodeCard(service.card);
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

export function serveCard(card: PublishedCard, exchange: Exchange): FullReply {
  const headers = {
    etag: card.etag,
    "cache-control": `public, max-age=${MAX_AGE_SECONDS}`,
    vary: "A2A-Version",
    "access-control-allow-origin": "*",
  };
  if (matches(exchange.header("if-none-match"), card.etag)) return { status: 304, headers, body: "" };
  return jsonReply(200, card.text, headers);
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((candidate) => {
    const value = candidate.trim();
    return value === "*" || value === etag || value === `W/${etag}`;
  });
}
