import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { TaskRecord } from "../../store/contract.ts";
import type { Caller, SnapshotOptions, SubscribeOptions, Subscription, Ticket } from "../api.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";
import type { PostedMessage } from "../read/posted-message.ts";
import { takeSnapshot } from "../read/snapshot.ts";
import { consumed } from "./consumed.ts";
import { refusedTask, taskNotFound } from "./refused-task.ts";
import { settled } from "./settled.ts";

/** How the message reached its task. Empty: it created the task, and is stored. */
export interface Accepted {
  /** The writer of a new task, whose creation may not be stored yet. */
  readonly writer?: TaskLogWriter;
  /** The message in the inbox of an existing task, where it is stored. */
  readonly posted?: PostedMessage;
}

/** A ticket for a message. It does not hold the feed, so that a caller that drops the ticket leaves nothing behind. */
export class MessageTicket implements Ticket {
  readonly taskId: TaskId;
  readonly key: TaskId;
  readonly contextId: ContextId;
  readonly #parts: EngineParts;
  readonly #feed: Feed;
  readonly #accepted: Accepted;

  constructor(parts: EngineParts, feed: Feed, accepted: Accepted) {
    const { id, contextId } = feed.task;
    this.taskId = publicTaskId(id);
    this.key = id;
    this.contextId = contextId;
    this.#parts = parts;
    this.#feed = feed;
    this.#accepted = accepted;
  }

  async stored(): Promise<void> {
    const { writer } = this.#accepted;
    if (writer === undefined || writer.isStored) return;
    await writer.flush().catch((cause: unknown) => {
      throw refusedTask(writer.loss, cause);
    });
  }

  async consumed(caller: Caller): Promise<void> {
    const { posted } = this.#accepted;
    // The first message of a task, and a message that answers nothing, have no question to wait for.
    if (posted === undefined || posted.answers?.length === 0) return;
    const feed = await this.#hold();
    try {
      await consumed(this.#parts, { feed, posted }, caller);
    } finally {
      this.#parts.feeds.release(feed);
    }
  }

  settled(caller: Caller): Promise<void> {
    const held = this.#hold();
    return held instanceof Promise
      ? held.then((feed) => settled(this.#parts, { feed, ...this.#accepted }, caller))
      : settled(this.#parts, { feed: held, ...this.#accepted }, caller);
  }

  snapshot(options: SnapshotOptions): ReturnType<Ticket["snapshot"]> {
    return takeSnapshot(this.#parts, this.#feed.task, options);
  }

  async subscribe({ largeBytes }: Pick<SubscribeOptions, "largeBytes">): Promise<Subscription> {
    const { posted } = this.#accepted;
    const options = { largeBytes, posted, fromStart: posted === undefined };
    const subscription = await this.#parts.subscriptions.open(this.key, () => this.#holdStored(), options);
    if (subscription === undefined) throw taskNotFound(this.key);
    return subscription;
  }

  async #holdStored(): Promise<Feed> {
    const feed = await this.#hold();
    try {
      await this.stored();
      return feed;
    } catch (error) {
      this.#parts.feeds.release(feed);
      throw error;
    }
  }

  /** Holds the feed; if it was removed since the message was accepted, the one that the store has now. */
  #hold(): Feed | Promise<Feed> {
    const { feeds } = this.#parts;
    return feeds.peek(this.key) === this.#feed ? feeds.hold(this.#feed) : this.#acquire();
  }

  async #acquire(): Promise<Feed> {
    const feed = await this.#parts.feeds.acquire(this.key, this.#feed.task.scope);
    if (feed === undefined) throw taskNotFound(this.key);
    return feed;
  }
}

/** A ticket for the message that created the task of this record. */
export function ticketOf(parts: EngineParts, record: TaskRecord): Ticket {
  const feed = parts.feeds.of(record);
  parts.feeds.release(feed);
  return new MessageTicket(parts, feed, {});
}
