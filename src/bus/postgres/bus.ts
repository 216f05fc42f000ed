import { randomUUID } from "node:crypto";
import type { Logger } from "../../internal/logger.ts";
import { loadPostgresDriver } from "../../internal/postgres/driver.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Bus, BusSubscriber, Hint } from "../contract.ts";
import { HintQueue } from "../hint-queue.ts";
import { Interest } from "./interest.ts";
import { Listener } from "./listener.ts";
import { type Announcement, type Item, payloadsOf, readPayload } from "./payload.ts";

export interface PostgresBusOptions {
  /** Such as `postgres://user:password@host:5432/database`. It must lead to the server directly: connection poolers do not pass notifications on. */
  readonly url: string;
  /** Name of the channel. All nodes of a store use the same. */
  readonly channel: string;
  readonly logger: Logger;
}

/** Milliseconds between two announcements of a task that this process watches. An announcement may be lost. */
const ANNOUNCED_EVERY = 20_000;
/** Tasks that one NOTIFY announces at most. */
const PER_NOTIFY = 800;

/**
 * Sends hints by LISTEN and NOTIFY, on a connection of its own and never in a transaction that writes. Hints that gather while a NOTIFY is under
 * way go with the next one. `log` hints are sent only for tasks that a node watches; nodes announce these tasks. While the connection is interrupted,
 * hints reach only this process; afterwards every subscriber reads the store once.
 */
export function createPostgresBus({ url, channel, logger }: PostgresBusOptions): Bus {
  const subscribers = new Set<BusSubscriber>();
  const self = randomUUID().slice(0, 8);
  const interest = new Interest();
  const queue = new HintQueue();
  /** What other nodes do not know yet. */
  const unannounced = new Set<TaskId>();
  let asks = false;
  let sending: Promise<void> | undefined;

  const readEverything = (): void => {
    for (const subscriber of subscribers) subscriber.onReconnect();
  };
  const deliver = (hints: readonly Hint[]): void => {
    for (const subscriber of subscribers) {
      const wanted = hints.filter((hint) => {
        if (hint.kind === "due") return true;
        return hint.kind === "log" ? interest.isWatchedHere(hint.task) : hint.node === subscriber.node;
      });
      if (wanted.length > 0) subscriber.onHints(wanted);
    }
  };
  const announceAll = (): void => {
    for (const task of interest.watched) unannounced.add(task);
    sendSoon();
  };
  const receive = (items: readonly Item[]): void => {
    const hints: Hint[] = [];
    const tasks: TaskId[] = [];
    for (const item of items) {
      if (item.kind === "watch") {
        if (item.by !== self) tasks.push(item.task);
      } else if (item.kind === "ask") {
        if (item.by !== self) announceAll();
      } else hints.push(item);
    }
    if (hints.length > 0) deliver(hints);
    const missed = interest.announced(tasks);
    if (missed.length > 0) {
      queue.add(missed);
      sendSoon();
    }
  };
  const listener = new Listener({
    loadDriver: loadPostgresDriver,
    url,
    channel,
    onConnected: () => {
      asks = true;
      announceAll();
      readEverything();
    },
    onPayload: (payload) => {
      const received = readPayload(payload);
      if (received === "everything") readEverything();
      else if (received !== undefined) receive(received);
    },
    onInterrupted: (error) =>
      logger.warn(
        "Hints between nodes are interrupted; until they work again, changes are found by polling each second.",
        {
          error,
        },
      ),
  });
  const takeAnnouncements = (): readonly Announcement[] => {
    const tasks = [...unannounced].slice(0, PER_NOTIFY);
    for (const task of tasks) unannounced.delete(task);
    const watches = tasks.map((task): Announcement => ({ kind: "watch", task, by: self }));
    const all: readonly Announcement[] = asks ? [{ kind: "ask", by: self }, ...watches] : watches;
    asks = false;
    return all;
  };
  const send = async (): Promise<void> => {
    while (!queue.isEmpty || unannounced.size > 0 || asks) {
      const hints = queue.takeAll();
      // Subscribers of this process wait for the server as well, unless it cannot be reached. Announcements are repeated.
      await listener.notify(payloadsOf([...takeAnnouncements(), ...hints])).catch(() => deliver(hints));
    }
    sending = undefined;
  };
  const sendSoon = (): void => {
    // Hints of the same turn of the event loop are sent together.
    sending ??= new Promise<void>((resolve) => setImmediate(resolve)).then(send);
  };
  const repeating = setInterval(() => {
    interest.prune();
    announceAll();
  }, ANNOUNCED_EVERY);
  repeating.unref();

  return {
    publish(hints) {
      const needed = interest.needed(hints);
      if (needed.length === 0) return;
      queue.add(needed);
      sendSoon();
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    watch(task) {
      if (interest.add(task)) {
        unannounced.add(task);
        sendSoon();
      }
      let isWatching = true;
      return () => {
        if (!isWatching) return;
        isWatching = false;
        interest.remove(task);
        if (!interest.isWatchedHere(task)) unannounced.delete(task);
      };
    },
    async close() {
      clearInterval(repeating);
      subscribers.clear();
      // The last hints tell other nodes what this one has released.
      await sending;
      await listener.close();
    },
  };
}
