import type { Logger } from "../../internal/logger.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Bus, BusSubscriber, Hint } from "../contract.ts";
import { HintQueue } from "../hint-queue.ts";
import type { NatsAddress, NatsConnect } from "./driver.ts";
import { Session } from "./session.ts";
import { readHints, Subjects } from "./subjects.ts";

export interface NatsBusOptions {
  readonly connect: NatsConnect;
  readonly address: NatsAddress;
  /** Any text that all nodes of the store, and no others, have in common: several stores may use the same NATS server. */
  readonly name: string;
  readonly logger: Logger;
}

/**
 * Sends hints by NATS, for more nodes than NOTIFY of PostgreSQL serves well: a node receives only the hints about its own leases, and about logs of
 * the shards whose tasks it watches. Hints of one turn of the event loop go together. While the connection is interrupted, hints reach only this
 * process; afterwards every subscriber reads the store once.
 */
export function createNatsBus({ connect, address, name, logger }: NatsBusOptions): Bus {
  const subjects = new Subjects(name);
  const subscribers = new Set<BusSubscriber>();
  const watched = new Map<TaskId, number>();
  const queue = new HintQueue();
  let isPlanned = false;

  const deliver = (hints: readonly Hint[]): void => {
    for (const subscriber of subscribers) {
      const wanted = hints.filter((hint) => {
        if (hint.kind === "due") return true;
        return hint.kind === "log" ? watched.has(hint.task) : hint.node === subscriber.node;
      });
      if (wanted.length > 0) subscriber.onHints(wanted);
    }
  };
  const session = new Session({
    connect,
    address,
    onMessage: (payload) => deliver(readHints(payload)),
    onConnected() {
      for (const subscriber of subscribers) subscriber.onReconnect();
    },
    onInterrupted: (error) =>
      logger.warn(
        "Hints between nodes are interrupted; until they work again, changes are found by polling each second.",
        { bus: "nats", error },
      ),
  });
  const send = (): void => {
    isPlanned = false;
    const hints = queue.takeAll();
    if (hints.length === 0) return;
    // Subscribers of this process get their hints from the server as well, unless it cannot be reached.
    if (session.isConnected) session.publish(subjects.publications(hints));
    else deliver(hints);
  };

  return {
    publish(hints) {
      queue.add(hints);
      if (isPlanned || queue.isEmpty) return;
      isPlanned = true;
      setImmediate(send);
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      const ends = [subjects.inbox(subscriber.node), subjects.due()].map((subject) => session.subscribe(subject));
      return () => {
        subscribers.delete(subscriber);
        for (const unsubscribe of ends) unsubscribe();
      };
    },
    watch(task) {
      watched.set(task, (watched.get(task) ?? 0) + 1);
      const unsubscribe = session.subscribe(subjects.log(task));
      let isWatching = true;
      return () => {
        if (!isWatching) return;
        isWatching = false;
        unsubscribe();
        const others = (watched.get(task) ?? 0) - 1;
        if (others > 0) watched.set(task, others);
        else watched.delete(task);
      };
    },
    async close() {
      subscribers.clear();
      // The last hints tell other nodes what this one has released.
      if (isPlanned) send();
      await session.close();
    },
  };
}
