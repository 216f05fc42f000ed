import type { Clock, Timer } from "../../internal/clock.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import type { Caller } from "../api.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { isHandledAt, type PostedMessage } from "../read/posted-message.ts";
import { refusedTask, taskNotFound } from "./refused-task.ts";

/** A message, and the feed of its task. */
interface Followed {
  readonly feed: Feed;
  /** The writer of a new task, whose creation may not be stored yet. */
  readonly writer?: TaskLogWriter;
  /** Absent: the message created the task. */
  readonly posted?: PostedMessage;
}

/**
 * Resolves when the task has ended, or is interrupted (`input-required`, `auth-required`) after the message was handled: the run consumed the
 * message, or the message arrived before the open question, does not answer it, and stays in the inbox for a later turn. Resolves after
 * `limits.maxWait` milliseconds at the latest, and when the server shuts down. Rejects if the caller's signal aborts, the task was not stored,
 * or it was deleted. The feed must be held; it is released at the end.
 */
export function settled(parts: EngineParts, followed: Followed, caller: Caller): Promise<void> {
  const { feed, writer } = followed;
  const isNew = writer !== undefined && !writer.isStored && writer.loss === undefined;
  if (!isNew || feed.ended || feed.isGone || parts.isClosing()) return untilSettled(parts, followed, caller);
  // Most sends end with the first commit of their task. Wait for it without the signal: reading the signal creates it.
  return new Promise((resolve) => {
    feed.onChange(() => {
      if (!feed.ended) return resolve(untilSettled(parts, followed, caller));
      parts.feeds.release(feed);
      resolve();
    });
  });
}

async function untilSettled(
  { store, feeds, isClosing, environment }: EngineParts,
  { feed, writer, posted }: Followed,
  caller: Caller,
): Promise<void> {
  const { clock, limits } = environment;
  let limit: WaitLimit | undefined;
  try {
    // The seq that the feed must reach before the store can say whether the message was consumed.
    let needed =
      posted === undefined || !isConsumptionUnknown(feed, posted)
        ? undefined
        : await loadConsumption(store, feed, posted);
    while (!isSettled(feed, posted) && !isClosing() && limit?.isReached !== true) {
      caller.signal.throwIfAborted();
      if (writer !== undefined && !writer.isStored && writer.loss !== undefined) throw refusedTask(writer.loss);
      if (feed.isGone) throw taskNotFound(feed.task.id);
      // The feed may have caught up with the store since the read: then no change may follow.
      if (needed === undefined || feed.seq < needed) {
        limit ??= new WaitLimit(clock, limits.maxWait);
        await nextChange(feed, caller.signal, limit);
      }
      // A writer in this process reports consumed messages to the feed. For tasks of other nodes, read the store.
      if (posted !== undefined && (!feed.hasWriter || needed !== undefined) && isConsumptionUnknown(feed, posted))
        needed = await loadConsumption(store, feed, posted);
      else needed = undefined;
    }
  } finally {
    limit?.cancel();
    feeds.release(feed);
  }
}

/** One timer for all waits of a send. */
export class WaitLimit {
  readonly #timer: Timer | undefined;
  isReached = false;
  onReached: (() => void) | undefined;

  constructor(clock: Clock, milliseconds: number) {
    if (milliseconds === Number.POSITIVE_INFINITY) return;
    const reach = (): void => {
      this.isReached = true;
      this.onReached?.();
    };
    this.#timer = clock.setTimer(clock.now() + milliseconds, reach, { unref: true });
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}

function isSettled(feed: Feed, posted: PostedMessage | undefined): boolean {
  if (feed.ended) return true;
  if (feed.interruptedAt === 0) return false;
  if (isHandledAt(feed, posted, feed.interruptedAt)) return true;
  // task.next() consumed the message while an earlier question stayed open.
  return isInterrupted(feed.state) && posted !== undefined && feed.consumedAfter(posted.inbox) !== undefined;
}

/** Resolves at the feed's next change, when the signal aborts, or when the limit is reached. */
export function nextChange(feed: Feed, signal: AbortSignal, limit: WaitLimit): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const forget = feed.onChange(wake);
    const abort = (): void => {
      forget();
      wake();
    };
    limit.onReached = abort;
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** Whether a question is open and the feed does not know if the run consumed the message before or after it. */
export function isConsumptionUnknown(feed: Feed, { inbox }: PostedMessage): boolean {
  return !feed.ended && feed.interruptedAt > 0 && feed.consumedAfter(inbox) === undefined;
}

/**
 * Reads from the store whether the message was consumed by another node, or before the feed existed, and reports it to the feed. If the store is
 * ahead of the feed, nothing is known yet: resolves with the seq that the feed must reach first. A consumed message and the feed's older question
 * must not be taken together: the run may have consumed the message as the answer to that question.
 */
export async function loadConsumption(store: Store, feed: Feed, posted: PostedMessage): Promise<number | undefined> {
  const { inbox, asked = 0 } = posted;
  const { id } = feed.task;
  const waiting = await store.inbox(id);
  if (waiting.some((entry) => entry.id === inbox)) return undefined;
  const record = await store.get(id, { artifacts: false });
  if (record === undefined || feed.consumedAfter(inbox) !== undefined) return undefined;
  // The feed advanced during the read: without another change it would wake nobody, so read again.
  if (record.seq < feed.seq) return loadConsumption(store, feed, posted);
  if (record.seq > feed.seq) return record.seq;
  const taken = record.history.find((entry) => entry.inbox === inbox);
  // A consumed sealed message is not in the history. It was accepted after the question `asked`, so it was not consumed before it.
  feed.markConsumed(inbox, taken?.after ?? asked);
  return undefined;
}
