import { isInterrupted } from "../../protocol/state.ts";
import type { Caller } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import type { PostedMessage } from "../read/posted-message.ts";
import { isConsumptionUnknown, loadConsumption, nextChange, WaitLimit } from "./settled.ts";

/** Milliseconds to wait for the run to read an answer: the run may be queued, or parked and about to restart. */
const MAX_WAIT = 1000;

/**
 * Resolves when the task's status no longer shows the question that the message answers. Resolves after 1 second at the latest, and when the
 * server shuts down. Rejects if the caller's signal aborts. The feed must be held.
 */
export async function consumed(
  { store, isClosing, environment }: EngineParts,
  { feed, posted }: { readonly feed: Feed; readonly posted: PostedMessage },
  caller: Caller,
): Promise<void> {
  if (!isAsking(feed, posted)) return;
  const limit = new WaitLimit(environment.clock, MAX_WAIT);
  try {
    if (posted.answers === undefined) await loadConsumption(store, feed, posted);
    while (isAsking(feed, posted) && !isClosing() && !feed.isGone && !limit.isReached) {
      caller.signal.throwIfAborted();
      await nextChange(feed, caller.signal, limit);
      if (!feed.hasWriter && isConsumptionUnknown(feed, posted)) await loadConsumption(store, feed, posted);
    }
  } finally {
    limit.cancel();
  }
}

/** Whether the status still shows a question that the message answers. Without `answers` (a repeated message) any open question counts. */
function isAsking(feed: Feed, { inbox, answers }: PostedMessage): boolean {
  if (feed.ended || !isInterrupted(feed.state) || feed.consumedAfter(inbox) !== undefined) return false;
  return answers === undefined || feed.questions?.open.some(({ id }) => answers.includes(id)) === true;
}
