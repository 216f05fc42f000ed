import type { Bus } from "../bus/contract.ts";
import type { AdjustableClock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { Store } from "../store/contract.ts";
import type { Telemetry } from "../telemetry/contract.ts";
import type { CallLimits } from "./agent/call-types.ts";
import type { Agent } from "./agent/definition.ts";
import type { Engine, EngineHooks } from "./api.ts";
import type { Callees } from "./call/callee.ts";
import type { CallEnvironment } from "./call/child-tasks.ts";
import type { Limits } from "./limits.ts";
import type { NodeLease } from "./record/node-lease.ts";

export interface EngineOptions {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly bus: Bus;
  /** Unique name of this process among all processes that share the store. Default: a random UUID. */
  readonly node?: string;
  /** Name of the server in call paths. It must be the same after a restart and on all nodes that share the store. Default: `node`. */
  readonly serverId?: string;
  readonly clock?: AdjustableClock;
  readonly limits?: Partial<Limits>;
  readonly hooks?: EngineHooks;
  readonly logger: Logger;
  /** Observes attempts, steps and commits. Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /** 32 bytes: the key that encrypts sensitive answers. With another key after a restart, the questions are asked again. */
  readonly secret: Uint8Array;
  /** Finds the agents that agents call (`task.call`). Default: agents cannot call agents. */
  readonly callees?: Callees;
  /** Limits of these calls. Default: those of `CallLimits`. */
  readonly callLimits?: Partial<CallLimits> | undefined;
  /** A call of another agent has ended: `completed`, or the code of its error. */
  readonly onCall?: CallEnvironment["onCall"];
  /** A task has used something (`task.usage`). */
  readonly onUsage?: CallEnvironment["onUsage"];
  /** Milliseconds that a run has to end after a cancel or its deadline. Default 5000. */
  readonly cancelGrace?: number;
  /** Milliseconds until the leases of this node expire unless renewed. Default 30000. */
  readonly leaseMs?: number;
  /** The same lease, for another part of the process that acts for the node. Replaces `leaseMs`. */
  readonly lease?: NodeLease;
  /** Milliseconds after which a waiting run is parked: it leaves memory until a message or its wake time comes. Default 30000. */
  readonly parkAfter?: number;
  /** Milliseconds for which calls of a busy or full store are retried before the runs are abandoned. Default 10000. */
  readonly storeRetry?: number;
  /** Called when it is unknown whether a commit was stored. The process must exit; recovery after the restart decides. */
  readonly onFatal: (error: unknown) => void;
}

/** An engine that can be started and stopped. */
export interface RunningEngine extends Engine {
  /** Renews the lease, claims the tasks that earlier processes left, and starts polling. Rejects if the lease cannot be obtained. */
  start(): Promise<void>;
  /**
   * Accepts no more messages and waits up to `timeout` milliseconds for runs to end; the other runs are released for the next start. Then
   * subscriptions and waiting calls end. `handsOver`: if other nodes are living, they get running tasks as soon as possible; callers of this process
   * still wait for them up to `timeout`.
   */
  drain(timeout: number, handsOver?: boolean): Promise<void>;
  /** Drains with a timeout of 0 and releases all leases. The store stays open. */
  close(): Promise<void>;
  counts(): EngineCounts;
}

export interface EngineCounts {
  /** Runs that have a slot. */
  readonly running: number;
  /** Runs that wait for a slot. */
  readonly queued: number;
  /** Runs that lost their task and have not returned. */
  readonly orphans: number;
  /** Tasks with a writer in this process. */
  readonly live: number;
  /** Open subscriptions. */
  readonly subscribers: number;
  /** Reads and writes that failed since the start because the store was unavailable for longer than `storeRetry`. */
  readonly storeRefusals: number;
}
