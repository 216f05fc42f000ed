import type { Retention, Store } from "../store/contract.ts";

/** How the suite wants a store: empty, keeping everything unless told, with a clock of its own. */
export interface StoreSetup {
  readonly retention: Retention;
  readonly now: () => number;
}

export type OpenStore = (setup: StoreSetup) => Promise<Store>;

/** A store under test, and its clock. */
export interface StoreTrial {
  readonly store: Store;
  readonly clock: { now: number };
  /** Another empty store with this retention. Closed with the trial. */
  readonly open: (retention: Retention) => Promise<Store>;
}

export interface StoreCase {
  /** A sentence about every store. */
  readonly name: string;
  run(trial: StoreTrial): Promise<void>;
}
