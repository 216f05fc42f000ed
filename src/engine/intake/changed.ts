import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { ChangeWait } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { nextChange, WaitLimit } from "./settled.ts";

/** Implements `Engine.changed` for one key. Resolves with false if the scope has no such task. */
export async function changed(
  parts: EngineParts,
  which: { readonly scope: Scope; readonly id: TaskId },
  wait: ChangeWait,
): Promise<boolean> {
  const { feeds } = parts;
  const feed = await feeds.acquire(which.id, which.scope);
  if (feed === undefined) return false;
  try {
    // Another node may have committed events that this process has not seen.
    if (isWaiting(feed, wait.after)) await feeds.refresh([which.id]);
    await untilChanged(parts, feed, wait);
    return true;
  } finally {
    feeds.release(feed);
  }
}

async function untilChanged(
  { isClosing, environment }: EngineParts,
  feed: Feed,
  { after, caller }: ChangeWait,
): Promise<void> {
  if (!isWaiting(feed, after) || isClosing()) return;
  const limit = new WaitLimit(environment.clock, environment.limits.maxPollWait);
  try {
    while (isWaiting(feed, after) && !isClosing() && !limit.isReached) {
      caller.signal.throwIfAborted();
      await nextChange(feed, caller.signal, limit);
    }
  } finally {
    limit.cancel();
  }
}

function isWaiting(feed: Feed, after: number): boolean {
  return feed.seq <= after && !feed.ended && !feed.isGone;
}
