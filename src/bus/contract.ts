import type { TaskId } from "../protocol/ids.ts";

/**
 * A task's log or inbox has grown. A hint may be late, duplicated or lost, and hints may arrive in any order: nodes also poll the store.
 *
 * - `log`: the log has events up to `seq`. For the nodes that read the task.
 * - `inbox`: a message or a cancel request waits. For `node`, which holds the lease.
 * - `due`: a node has released tasks that others should continue. For all nodes.
 */
export type Hint =
  | { readonly kind: "log"; readonly task: TaskId; readonly seq: number }
  | { readonly kind: "inbox"; readonly task: TaskId; readonly node: string }
  | { readonly kind: "due" };

/** A node, or a part of it, that receives hints. */
export interface BusSubscriber {
  /** Receives the `inbox` hints for this node. */
  readonly node: string;
  /**
   * Called with the hints of one or several commits, including those of this node. A bus may leave out `log` hints of tasks that nobody here
   * watches, and `inbox` hints for other nodes. Must not throw.
   */
  onHints(hints: readonly Hint[]): void;
  /** The connection was interrupted and works again: hints may have been lost, so everything must be read from the store once. */
  onReconnect(): void;
}

/** Sends hints between the nodes that share a store, so that they need not wait for their next poll. */
export interface Bus {
  /** Sends the hints of one commit together. Does not wait and does not throw. */
  publish(hints: readonly Hint[]): void;
  /** Returns a function that unsubscribes. */
  subscribe(subscriber: BusSubscriber): () => void;
  /**
   * This process reads a task that another one writes: it needs the task's `log` hints. Returns a function that ends this. A bus that sends all
   * hints to all nodes need not do anything.
   */
  watch(task: TaskId): () => void;
  close(): Promise<void>;
}
