import type { TaskId } from "../protocol/ids.ts";

/** Says that a task's log or inbox may have grown. A hint: it may be late, doubled or lost; readers also look for themselves. */
export interface Hint {
  readonly task: TaskId;
  readonly kind: "log" | "inbox";
}

/** Carries hints between the nodes that share a store. */
export interface Bus {
  publish(hint: Hint): void;
  /** Calls back for every hint, of whichever node. Returns how to stop. */
  subscribe(listener: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
