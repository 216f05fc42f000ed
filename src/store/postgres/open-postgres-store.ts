import type { Store } from "../contract.ts";

/** A store in PostgreSQL. Any number of processes may open the same schema. */
export interface OpenPostgresStore extends Store {
  /** Bytes that all nodes share, such as a key. `make` is called if the store has none with this name. */
  sharedValue(name: string, make: () => Uint8Array): Promise<Uint8Array>;
  /** Counts the tasks now, for a `maxTasks` that must be exact. */
  countTasks(): Promise<void>;
}
