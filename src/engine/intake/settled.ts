import type { Clock, Timer } from "../../internal/clock.ts";
import { A2AError } from "../../protocol/error.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import type { Caller, Ticket } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import { isHandledAt } from "../read/ticket.ts";
import { refusedTask } from "./refused-task.ts";

/**
 * Resolves when the task has ended, or is interrupted (`input-required`, `auth-required`) after the ticket's message was handled: the run
 * consumed the message, or the message arrived before the open question, does not answer it, and stays in the inbox for a later turn.
 * Resolves after `limits.maxWait` milliseconds at the latest, and when the server shuts down. Rejects if the caller's signal aborts, the task
 * was not stored, or it was deleted.
 */
export async function settled(
  { feeds, runs, store, isClosing, environment }: EngineParts,
  ticket: Ticket,
  caller: Caller,
): Promise<void> {
  const { clock, limits } = environment;
  const writer = runs.writer(ticket.key);
  const feed = feeds.peek(ticket.key) ?? (await loadFeed({ feeds, store }, ticket));
  feed.holders++;
  // Wait for the first commit of a new task without the signal: it comes soon, and most sends end with it. Reading the signal creates it.
  let soon = writer !== undefined && !writer.isStored;
  let limit: WaitLimit | undefined;
  try {
    let isLoaded = !isConsumptionUnknown(feed, ticket) || (await loadConsumption(store, feed, ticket));
    while (!isSettled(feed, ticket) && !isClosing() && limit?.isReached !== true) {
      if (!soon) caller.signal.throwIfAborted();
      if (writer !== undefined && !writer.isStored && writer.loss !== undefined) throw refusedTask(writer.loss);
      if (feed.isGone) throw new A2AError("task-not-found", "Task not found");
      if (soon) await new Promise<void>((resolve) => feed.onChange(resolve));
      else {
        limit ??= new WaitLimit(clock, limits.maxWait);
        await nextChange(feed, caller.signal, limit);
      }
      soon = false;
      // A writer in this process reports consumed messages to the feed. For tasks of other nodes, read the store.
      if ((!feed.hasWriter || !isLoaded) && isConsumptionUnknown(feed, ticket))
        isLoaded = await loadConsumption(store, feed, ticket);
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

function isSettled(feed: Feed, ticket: Ticket): boolean {
  if (feed.ended) return true;
  if (feed.interruptedAt === 0) return false;
  if (isHandledAt(feed, ticket, feed.interruptedAt)) return true;
  // task.next() consumed the message while an earlier question stayed open.
  return isInterrupted(feed.state) && ticket.inbox !== undefined && feed.consumedAfter(ticket.inbox) !== undefined;
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

/** Loads the task's feed from the store without holding it. Rejects with `task-not-found`. */
export async function loadFeed({ feeds, store }: Pick<EngineParts, "feeds" | "store">, ticket: Ticket): Promise<Feed> {
  const record = await store.get(ticket.key, { artifacts: false, history: 0 });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  const feed = feeds.of(record);
  feeds.release(feed);
  return feed;
}

/** Whether a question is open and the feed does not know if the run consumed the ticket's message before or after it. */
export function isConsumptionUnknown(feed: Feed, { inbox }: Ticket): boolean {
  return inbox !== undefined && !feed.ended && feed.interruptedAt > 0 && feed.consumedAfter(inbox) === undefined;
}

/**
 * Reads from the store whether the message was consumed by another node, or before the feed existed, and reports it to the feed. False: the
 * store is ahead of the feed, so that nothing is known before the feed's next change. A consumed message and the feed's older question must not be
 * taken together: the run may have consumed the message as the answer to that question.
 */
export async function loadConsumption(
  store: Store,
  feed: Feed,
  { key, inbox }: Pick<Ticket, "key" | "inbox">,
): Promise<boolean> {
  const waiting = await store.inbox(key);
  if (inbox === undefined || waiting.some((entry) => entry.id === inbox)) return true;
  const record = await store.get(key, { artifacts: false });
  if (record === undefined || feed.consumedAfter(inbox) !== undefined) return true;
  // The feed advanced during the read: without another change it would wake nobody, so read again.
  if (record.seq < feed.seq) return loadConsumption(store, feed, { key, inbox });
  if (record.seq > feed.seq) return false;
  const taken = record.history.find((entry) => entry.inbox === inbox);
  // A consumed sealed message is not in the history: it was consumed before the open question.
  feed.markConsumed(inbox, taken?.after ?? 0);
  return true;
}
