import type { Bus } from "../bus/contract.ts";
import type { Store } from "../store/contract.ts";
import type { Agent } from "./agent/definition.ts";
import type { Submitted } from "./api.ts";
import type { Committer } from "./log/committer.ts";
import type { Feeds } from "./read/feeds.ts";
import type { StateHistories } from "./read/state-history.ts";
import type { Subscriptions } from "./read/subscriptions.ts";
import type { RunEnvironment } from "./run/run-environment.ts";
import type { Runs } from "./run/runs.ts";

/** The objects that the parts of one engine share. */
export interface EngineParts {
  /** By agent id. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** Name of this process among all processes that share the store. */
  readonly node: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly subscriptions: Subscriptions;
  readonly runs: Runs;
  readonly environment: RunEnvironment;
  readonly stateHistories: StateHistories;
  /** Idempotent sends that are not in the store yet, by scope and message id. */
  readonly pendingSends: Map<string, PendingSend>;
  /** True after draining: calls that wait must return. */
  readonly isClosing: () => boolean;
}

/** An idempotent send that this process has not stored yet. */
export interface PendingSend {
  readonly digest: string;
  readonly result: Promise<Submitted>;
}
