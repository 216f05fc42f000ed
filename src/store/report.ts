import type { TaskState } from "../protocol/state.ts";
import type { NodeStatistics } from "./statistics.ts";

/** A store as `palaver db status` shows it. Times are milliseconds since 1970 of the store's clock. */
export interface StoreReport {
  /** Such as `SQLite 3.50` or `PostgreSQL 18.4`. */
  readonly database: string;
  /** The version of the schema; 0: the store has no tables yet. */
  readonly schema: number;
  /** The version that this release creates. If it is higher than `schema`, a migration is pending. */
  readonly newestSchema: number;
  /** The store's present time. */
  readonly now: number;
  readonly tasks: Readonly<Record<TaskState, number>>;
  /** As in `StoreStatistics`. */
  readonly parked: number;
  readonly nodes: readonly NodeStatistics[];
  /** Tasks that need a node and have none: of all agents, also of those that no living node serves. */
  readonly due: Lag;
  /** Active webhooks whose next attempt should have been made. */
  readonly overdueWebhooks: Lag;
  readonly sizes: readonly StoreSize[];
  /** Servers that replicate the database, and how far they are behind. Only if this role may see them. */
  readonly standbys?: readonly Standby[];
}

/** How many wait, and since when. */
export interface Lag {
  readonly count: number;
  /** Absent: none waits. */
  readonly since?: number;
}

/** A table or a file. */
export interface StoreSize {
  readonly name: string;
  readonly bytes: number;
  /** Estimated. Absent: not known. */
  readonly rows?: number;
}

export interface Standby {
  readonly name: string;
  readonly state: string;
  /** Bytes of the write-ahead log that it has not applied. */
  readonly behindBytes: number;
}
