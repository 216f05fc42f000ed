import type { Logger } from "../../internal/logger.ts";
import { loadPostgresDriver } from "../../internal/postgres/driver.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Bus, BusSubscriber, Hint } from "../contract.ts";
import { HintQueue } from "../hint-queue.ts";
import { Listener } from "./listener.ts";
import { payloadsOf, readPayload } from "./payload.ts";

export interface PostgresBusOptions {
  /** Such as `postgres://user:password@host:5432/database`. It must lead to the server directly: connection poolers do not pass notifications on. */
  readonly url: string;
  /** Name of the channel. All nodes of a store use the same. */
  readonly channel: string;
  readonly logger: Logger;
}

/**
 * Sends hints by LISTEN and NOTIFY, on a connection of its own and never in a transaction that writes. Hints that gather while a NOTIFY is under
 * way go with the next one. While the connection is interrupted, hints reach only this process; afterwards every subscriber reads the store once.
 */
export function createPostgresBus({ url, channel, logger }: PostgresBusOptions): Bus {
  const subscribers = new Set<BusSubscriber>();
  const watched = new Map<TaskId, number>();
  const queue = new HintQueue();
  let sending: Promise<void> | undefined;

  const readEverything = (): void => {
    for (const subscriber of subscribers) subscriber.onReconnect();
  };
  const deliver = (hints: readonly Hint[]): void => {
    for (const subscriber of subscribers) {
      const wanted = hints.filter((hint) => {
        if (hint.kind === "due") return true;
        return hint.kind === "log" ? watched.has(hint.task) : hint.node === subscriber.node;
      });
      if (wanted.length > 0) subscriber.onHints(wanted);
    }
  };
  const listener = new Listener({
    loadDriver: loadPostgresDriver,
    url,
    channel,
    onConnected: readEverything,
    onPayload: (payload) => {
      const received = readPayload(payload);
      if (received === "everything") readEverything();
      else if (received !== undefined) deliver(received);
    },
    onInterrupted: (error) =>
      logger.warn(
        "Hints between nodes are interrupted; until they work again, changes are found by polling each second.",
        {
          error,
        },
      ),
  });
  const send = async (): Promise<void> => {
    while (!queue.isEmpty) {
      const hints = queue.takeAll();
      // Subscribers of this process wait for the server as well, unless it cannot be reached.
      await listener.notify(payloadsOf(hints)).catch(() => deliver(hints));
    }
    sending = undefined;
  };

  return {
    publish(hints) {
      queue.add(hints);
      if (sending !== undefined || queue.isEmpty) return;
      // Hints of the same turn of the event loop are sent together.
      sending = new Promise<void>((resolve) => setImmediate(resolve)).then(send);
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    watch(task) {
      watched.set(task, (watched.get(task) ?? 0) + 1);
      let isWatching = true;
      return () => {
        if (!isWatching) return;
        isWatching = false;
        const others = (watched.get(task) ?? 0) - 1;
        if (others > 0) watched.set(task, others);
        else watched.delete(task);
      };
    },
    async close() {
      subscribers.clear();
      // The last hints tell other nodes what this one has released.
      await sending;
      await listener.close();
    },
  };
}
