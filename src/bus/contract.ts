import type { TaskId } from "../protocol/ids.ts";

/** A task's log or inbox may have grown. A hint may be late, duplicated or lost: nodes also poll the store. */
export interface Hint {
  readonly task: TaskId;
  readonly kind: "log" | "inbox";
}

/** Sends hints between the nodes that share a store, so that they need not wait for their next poll. */
export interface Bus {
  /** Does not wait and does not throw. */
  publish(hint: Hint): void;
  /** Calls `listener` for every hint, including those of this node. Returns a function that unsubscribes. */
  subscribe(listener: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
