import { isInterrupted } from "../../protocol/state.ts";
import type { Caller, Ticket } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { isConsumptionUnknown, loadConsumption, loadFeed, nextChange, WaitLimit } from "./settled.ts";

/** Milliseconds to wait for the run to read an answer: the run may be queued, or parked and about to restart. */
const MAX_WAIT = 1000;

/**
 * Resolves when the task's status no longer shows the question that the ticket's message answers; immediately for messages that answer no
 * question. Resolves after 1 second at the latest, and when the server shuts down. Rejects if the caller's signal aborts.
 */
export async function consumed(parts: EngineParts, ticket: Ticket, caller: Caller): Promise<void> {
  // The first message of a task, and a message that answers nothing, have no question to wait for.
  if (ticket.inbox === undefined || ticket.answers?.length === 0) return;
  const { feeds, store, isClosing, environment } = parts;
  const feed = feeds.peek(ticket.key) ?? (await loadFeed(parts, ticket));
  if (!isAsking(feed, ticket)) return;
  feeds.hold(feed);
  const limit = new WaitLimit(environment.clock, MAX_WAIT);
  try {
    if (ticket.answers === undefined) await loadConsumption(store, feed, ticket);
    while (isAsking(feed, ticket) && !isClosing() && !feed.isGone && !limit.isReached) {
      caller.signal.throwIfAborted();
      await nextChange(feed, caller.signal, limit);
      if (!feed.hasWriter && isConsumptionUnknown(feed, ticket)) await loadConsumption(store, feed, ticket);
    }
  } finally {
    limit.cancel();
    feeds.release(feed);
  }
}

/** Whether the status still shows a question that the message answers. Without `answers` (a repeated message) any open question counts. */
function isAsking(feed: Feed, { inbox = "", answers }: Ticket): boolean {
  if (feed.ended || !isInterrupted(feed.state) || feed.consumedAfter(inbox) !== undefined) return false;
  return answers === undefined || feed.questions?.open.some(({ id }) => answers.includes(id)) === true;
}
