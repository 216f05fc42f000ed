import type { Bus, Hint } from "../contract.ts";

/** A bus for nodes in one process. */
export function createMemoryBus(): Bus {
  const listeners = new Set<(hint: Hint) => void>();
  return {
    publish(hint) {
      for (const listener of listeners) listener(hint);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      listeners.clear();
      return Promise.resolve();
    },
  };
}
