import type { Clock } from "../../internal/clock.ts";
import type { Logger } from "../../internal/logger.ts";
import type { StepRecord } from "../../store/contract.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import type { Skill } from "../agent/agent.ts";
import type { EngineHooks } from "../api.ts";
import type { CallEnvironment } from "../call/child-tasks.ts";
import type { Limits } from "../limits.ts";
import type { NodeLease } from "../record/node-lease.ts";
import type { Sealer } from "../record/seal.ts";
import type { Replay } from "../replay/replay.ts";
import type { Turn } from "./context-host.ts";
import type { IdleRuns } from "./idle-runs.ts";

/** What all runs of one engine share. */
export interface RunEnvironment {
  /** The id of this process. */
  readonly node: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly hooks: EngineHooks;
  readonly telemetry: Telemetry | undefined;
  readonly sealer: Sealer;
  /** Whether this process may still act for its tasks. */
  readonly lease: NodeLease;
  /** The id of this server in call paths. */
  readonly serverId: string;
  /** Calls of other agents. Absent: agents cannot call agents. */
  readonly calls?: CallEnvironment | undefined;
  /** Milliseconds of waiting after which a run is parked. */
  readonly parkAfter: number;
  readonly idleRuns: IdleRuns;
  /** Milliseconds that a run has to end after it was asked to stop. */
  readonly grace: number;
}

/** What an attempt starts with. */
export interface AttemptStart {
  readonly turn: Turn;
  readonly skill: Skill | undefined;
  /** Stored results of earlier attempts of this turn. */
  readonly steps: readonly StepRecord[];
  /** The output of earlier attempts of this turn; absent on the first attempt. */
  readonly replay: Replay | undefined;
}
