import type { Bus, BusSubscriber } from "../contract.ts";

const NOTHING = (): void => {};

/** A bus for nodes in one process. Subscribers get the hints during `publish`. */
export function createMemoryBus(): Bus {
  const subscribers = new Set<BusSubscriber>();
  return {
    publish(hints) {
      for (const subscriber of subscribers) subscriber.onHints(hints);
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    watch: () => NOTHING,
    close: () => {
      subscribers.clear();
      return Promise.resolve();
    },
  };
}
