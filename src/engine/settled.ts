import { A2AError } from "../protocol/error.ts";
import type { Caller, Ticket } from "./api.ts";
import type { EngineParts } from "./engine.ts";
import type { Feed } from "./feed.ts";

/**
 * Resolves once the task has ended, or waits for the caller at a point after it took this message: a question asked before
 * the message was read does not answer it.
 */
export async function settled({ feeds, runs, store, isClosing }: EngineParts, ticket: Ticket, caller: Caller): Promise<void> {
  const writer = runs.writer(ticket.taskId);
  const feed = feeds.peek(ticket.taskId) ?? (await loadFeed({ feeds, store }, ticket));
  feed.holders++;
  // The first commit of a new task is sure to come soon; most need no more, and so no signal.
  let soon = writer !== undefined && !writer.isStored;
  try {
    while (!isSettled(feed, ticket) && !isClosing()) {
      if (!soon) caller.signal.throwIfAborted();
      if (writer?.loss?.kind === "refused") throw refused(writer.loss.status);
      if (writer !== undefined && !writer.isStored && writer.loss !== undefined) {
        throw new A2AError("unavailable", "The task could not be stored; try again later.", { retryAfter: 5 });
      }
      await (soon ? new Promise<void>((resolve) => feed.onChange(resolve)) : changed(feed, caller.signal));
      soon = false;
    }
  } finally {
    feeds.release(feed);
  }
}

function isSettled(feed: Feed, ticket: Ticket): boolean {
  if (feed.ended) return true;
  if (feed.interruptedAt === 0) return false;
  const after = ticket.inbox === undefined ? 0 : feed.takenAfter(ticket.inbox);
  return after !== undefined && feed.interruptedAt > after;
}

function changed(feed: Feed, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const forget = feed.onChange(wake);
    const abort = (): void => {
      forget();
      resolve();
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}

async function loadFeed({ feeds, store }: Pick<EngineParts, "feeds" | "store">, ticket: Ticket): Promise<Feed> {
  const record = await store.get(ticket.taskId, { artifacts: false });
  if (record === undefined) throw new A2AError("task-not-found", "Task not found");
  const waiting = ticket.inbox === undefined ? [] : await store.inbox(ticket.taskId);
  const feed = feeds.of(record);
  for (const entry of record.history) if (entry.inbox !== undefined) feed.markTaken(entry.inbox, entry.after);
  // A sealed message leaves no trace in the history; whatever is not waiting any more was taken.
  const { inbox } = ticket;
  if (inbox !== undefined && feed.takenAfter(inbox) === undefined && !waiting.some((entry) => entry.id === inbox)) feed.markTaken(inbox, 0);
  feeds.release(feed);
  return feed;
}

function refused(status: "duplicate" | "full"): A2AError {
  return status === "full"
    ? new A2AError("resource-exhausted", "The server may hold no more tasks.")
    : new A2AError("invalid-params", "There is a task of that id already.");
}
