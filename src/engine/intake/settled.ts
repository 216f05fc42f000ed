import type { Clock, Timer } from "../../internal/clock.ts";
import { A2AError } from "../../protocol/error.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import type { Caller, Ticket } from "../api.ts";
import type { EngineParts } from "../engine.ts";
import type { Feed } from "../read/feed.ts";
import { isHandledAt } from "../read/ticket.ts";
import { refusedTask } from "./refused-task.ts";

/**
 * Resolves once the task has ended, or is interrupted and nothing works on this message any more: it was consumed, or it arrived before
 * the open question, does not answer it, and is left in the inbox for a later turn. Resolves after `maxWait` at the latest.
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
  // The first commit of a new task is sure to come soon; most need no more, and so no signal.
  let soon = writer !== undefined && !writer.isStored;
  let limit: WaitLimit | undefined;
  try {
    if (isUnknown(feed, ticket)) await learnTaken(store, feed, ticket);
    while (!isSettled(feed, ticket) && !isClosing() && limit?.isReached !== true) {
      if (!soon) caller.signal.throwIfAborted();
      if (writer !== undefined && !writer.isStored && writer.loss !== undefined) throw refusedTask(writer.loss);
      if (feed.isGone) throw new A2AError("task-not-found", "Task not found");
      if (soon) await new Promise<void>((resolve) => feed.onChange(resolve));
      else {
        limit ??= new WaitLimit(clock, limits.maxWait);
        await changed(feed, caller.signal, limit);
      }
      soon = false;
      // Who writes here says what it takes; of what others take, only the store knows.
      if (!feed.hasWriter && isUnknown(feed, ticket)) await learnTaken(store, feed, ticket);
    }
  } finally {
    limit?.cancel();
    feeds.release(feed);
  }
}

/** One timer for all the waits of a send. */
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
  // task.next() consumed the message beside a question that was open before and still is.
  return isInterrupted(feed.state) && ticket.inbox !== undefined && feed.consumedAfter(ticket.inbox) !== undefined;
}

/** Resolves at the feed's next change, when the signal aborts, and when the limit is reached. */
export function changed(feed: Feed, signal: AbortSignal, limit: WaitLimit): Promise<void> {
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

export async function loadFeed({ feeds, store }: Pick<EngineParts, "feeds" | "store">, ticket: Ticket): Promise<Feed> {
  const record = await store.get(ticket.key, { artifacts: false, history: 0 });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  const feed = feeds.of(record);
  feeds.release(feed);
  return feed;
}

/** Something is being asked, and the feed cannot tell whether before or after the ticket's message was read. */
export function isUnknown(feed: Feed, { inbox }: Ticket): boolean {
  return inbox !== undefined && !feed.ended && feed.interruptedAt > 0 && feed.consumedAfter(inbox) === undefined;
}

/** The message may have been taken before this feed was made, or by another node. */
export async function learnTaken(store: Store, feed: Feed, { key, inbox }: Ticket): Promise<void> {
  const waiting = await store.inbox(key);
  if (inbox === undefined || waiting.some((entry) => entry.id === inbox)) return;
  const record = await store.get(key, { artifacts: false });
  if (record === undefined || feed.consumedAfter(inbox) !== undefined) return;
  const taken = record.history.find((entry) => entry.inbox === inbox);
  if (taken !== undefined) feed.markConsumed(inbox, taken.after);
  // A sealed message leaves no trace in the history. It was taken; if nothing is on its way, before what is asked now.
  else if (record.seq === feed.seq) feed.markConsumed(inbox, 0);
}
