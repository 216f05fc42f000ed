import type { AgentCard } from "../../protocol/card.ts";
import type { Operation } from "../../protocol/operation.ts";

/** A request before it goes out. Whoever is given it may change both members. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly headers: Headers;
}

/** Why the attempt before was refused. */
export interface Challenge {
  /** 401 or 403. */
  readonly status: number;
  /** The value of `WWW-Authenticate`, where there was one. */
  readonly authenticate: string | undefined;
}

export interface AuthorizeContext {
  readonly operation: Operation | "card";
  /** Absent while the card itself is fetched. */
  readonly card?: AgentCard;
  readonly signal: AbortSignal;
  /** Present on the one repetition after a refusal: what was shown then is no longer good. */
  readonly challenge?: Challenge;
}

/**
 * Puts credentials on a request, in its headers or its URL. After an answer of 401 it is asked once more, with the challenge: it
 * gives `false` where it has nothing better to show, and the refusal stands.
 */
export type Authorize = (
  request: OutgoingRequest,
  context: AuthorizeContext,
) => boolean | void | Promise<boolean | void>;

/** Looks at every address before it is called, redirections among them; throws where it must not be. */
export type Guard = (url: URL) => void | Promise<void>;

/** How requests leave. */
export interface HttpOptions {
  /** Default: the global `fetch`. It must honour `redirect: "manual"`: redirects are followed by the client, not by `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * Which addresses may be called; `public` stands for those on the public internet. It checks the target of every redirect that is
   * followed: at most 5, within the origin; a card without credentials may be redirected to another origin.
   */
  readonly guard?: Guard | "public" | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}
