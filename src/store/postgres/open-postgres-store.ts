import type { Store } from "../contract.ts";

/** A store in PostgreSQL. Any number of processes may open the same schema. */
export interface OpenPostgresStore extends Store {
  /** Bytes that all nodes share, such as a key. `make` is called if the store has none with this name. */
  sharedValue(name: string, make: () => Uint8Array): Promise<Uint8Array>;
  /**
   * Opens connections and makes the server load and plan the functions on them. Without it, that happens at the first calls, and takes longer than
   * these: the tasks of a node that stops would wait for it.
   */
  warmUp(): Promise<void>;
  /** Counts the tasks now, for a `maxTasks` that must be exact. */
  countTasks(): Promise<void>;
}
