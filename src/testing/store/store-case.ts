import type { Retention, Store } from "../../store/contract.ts";

/** How the suite opens a store. The store must be empty. */
export interface StoreSetup {
  /** Which finished tasks the store deletes. `{}`: none. */
  readonly retention: Retention;
  /** The clock that the store must use, in milliseconds since 1970. */
  readonly now: () => number;
}

/** An open store, and what else the suite can do with its database. */
export interface OpenedStore {
  readonly store: Store;
  /**
   * Opens the same database a second time, as another node does. The suite then runs the races between the two. Absent: one store gets all calls,
   * which does not show what two connections do to each other.
   */
  readonly openSecond?: () => Promise<Store>;
  /**
   * Resolves when the totals of lists, and the number of tasks that `maxTasks` limits, include all calls that have resolved. Absent: they always do.
   */
  readonly settle?: () => Promise<void>;
}

/** Opens an empty store for one case of the suite. */
export type OpenStore = (setup: StoreSetup) => Promise<Store | OpenedStore>;

/** A store under test, and its clock. */
export interface StoreTrial {
  readonly store: Store;
  /** The same database as another node sees it. Without `OpenedStore.openSecond` it is `store` itself. */
  readonly second: Store;
  readonly clock: { now: number };
  /** Another empty store with this retention. Closed with the trial. */
  readonly open: (retention: Retention) => Promise<Store>;
  /** Call it before comparing a total, and before a create that `maxTasks` must refuse or make room for. */
  readonly settle: () => Promise<void>;
}

/** One case of the suite. */
export interface StoreCase {
  /** The tested behaviour; "the store …" precedes it. */
  readonly name: string;
  run(trial: StoreTrial): Promise<void>;
}
