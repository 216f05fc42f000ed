import type { Bus } from "../bus/contract.ts";
import type { Store } from "../store/contract.ts";
import type { Agent } from "./agent/definition.ts";
import type { PendingSends } from "./intake/pending-sends.ts";
import type { Committer } from "./log/committer.ts";
import type { Feeds } from "./read/feeds.ts";
import type { Transitions } from "./read/transitions.ts";
import type { RunEnvironment } from "./run/run.ts";
import type { Runs } from "./run/runs.ts";

/** What the parts of the engine share. */
export interface EngineParts {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly node: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly committer: Committer;
  readonly feeds: Feeds;
  readonly runs: Runs;
  readonly environment: RunEnvironment;
  readonly transitions: Transitions;
  /** Idempotent sends that are not in the store yet. */
  readonly pendingSends: PendingSends;
  /** The server is going down. */
  readonly isClosing: () => boolean;
}
