import type { Retention, Store } from "../store/contract.ts";

/** How the suite opens a store. The store must be empty. */
export interface StoreSetup {
  /** Which finished tasks the store deletes. `{}`: none. */
  readonly retention: Retention;
  /** The clock that the store must use, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Opens an empty store for one case of the suite. */
export type OpenStore = (setup: StoreSetup) => Promise<Store>;

/** A store under test, and its clock. */
export interface StoreTrial {
  readonly store: Store;
  readonly clock: { now: number };
  /** Another empty store with this retention. Closed with the trial. */
  readonly open: (retention: Retention) => Promise<Store>;
}

/** One case of the suite. */
export interface StoreCase {
  /** The tested behaviour; "the store …" precedes it. */
  readonly name: string;
  run(trial: StoreTrial): Promise<void>;
}
