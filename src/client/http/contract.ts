import type { AgentCard } from "../../protocol/card.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { Send } from "./send.ts";

/** A request before it is sent. An `Authorize` function may change its URL and headers. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly headers: Headers;
}

/** Why the agent rejected the previous attempt. */
export interface Challenge {
  /** HTTP status of the rejection: 401. */
  readonly status: number;
  /** The value of the `WWW-Authenticate` header, if the agent sent one. */
  readonly authenticate: string | undefined;
}

/** What an `Authorize` function knows about the request. */
export interface AuthorizeContext {
  /** The protocol operation, or `card` while the agent card is fetched. */
  readonly operation: Operation | "card";
  /** The agent's card. Absent while the card itself is fetched. */
  readonly card?: AgentCard;
  /** Aborts with the call. */
  readonly signal: AbortSignal;
  /** Set only for the second attempt: the previous credentials were rejected. */
  readonly challenge?: Challenge;
}

/**
 * Adds credentials to the headers or the URL of a request. After a 401 it is called once more, with the challenge. It returns `false` if it has no
 * other credentials; the call then fails with the 401.
 */
export type Authorize = (
  request: OutgoingRequest,
  context: AuthorizeContext,
) => boolean | void | Promise<boolean | void>;

/** Checks every URL before it is requested, redirect targets included. Throws to block it. */
export type Guard = (url: URL) => void | Promise<void>;

/** How requests are sent. */
export interface HttpOptions {
  /** Replaces the global `fetch`. It must support `redirect: "manual"`: the client follows redirects itself. */
  readonly fetch?: typeof fetch;
  /** Replaces `fetch` where the runtime has a way to send requests that costs less. Default: `fetch`. */
  readonly send?: Send | undefined;
  /**
   * Which URLs may be requested; `public`: only addresses on the public internet. Default: any. The targets of redirects are checked too: at most 5
   * are followed, within the origin; a card that is fetched without credentials may be redirected to another origin.
   */
  readonly guard?: Guard | "public" | undefined;
  /** Headers to add to every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}
