import { isInterrupted } from "../../protocol/state.ts";
import type { Caller, Ticket } from "../api.ts";
import type { EngineParts } from "../engine.ts";
import type { Feed } from "../read/feed.ts";
import { changed, isUnknown, learnTaken, loadFeed, WaitLimit } from "./settled.ts";

/** Milliseconds for the run to read an answer: it may be queued for a slot, or have to be started again. */
const MAX_WAIT = 1000;

/**
 * Resolves once the task no longer shows the question that the ticket's message answers; at once for other messages. Resolves after one
 * second at the latest, and when the server shuts down.
 */
export async function consumed(parts: EngineParts, ticket: Ticket, caller: Caller): Promise<void> {
  // A message that made its task, or that answers nothing, leaves no question behind.
  if (ticket.inbox === undefined || ticket.answers?.length === 0) return;
  const { feeds, store, isClosing, environment } = parts;
  const feed = feeds.peek(ticket.key) ?? (await loadFeed(parts, ticket));
  if (!isAsking(feed, ticket)) return;
  feeds.hold(feed);
  const limit = new WaitLimit(environment.clock, MAX_WAIT);
  try {
    if (ticket.answers === undefined) await learnTaken(store, feed, ticket);
    while (isAsking(feed, ticket) && !isClosing() && !feed.isGone && !limit.isReached) {
      caller.signal.throwIfAborted();
      await changed(feed, caller.signal, limit);
      if (!feed.hasWriter && isUnknown(feed, ticket)) await learnTaken(store, feed, ticket);
    }
  } finally {
    limit.cancel();
    feeds.release(feed);
  }
}

/** The status still shows a question that the message answers. Of a repeated message it is not known which question that is. */
function isAsking(feed: Feed, { inbox = "", answers }: Ticket): boolean {
  if (feed.ended || !isInterrupted(feed.state) || feed.consumedAfter(inbox) !== undefined) return false;
  return answers === undefined || feed.questions?.open.some(({ id }) => answers.includes(id)) === true;
}
