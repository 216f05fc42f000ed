import type { Agent } from "../../engine/agent/agent.ts";
import type { RunningEngine } from "../../engine/engine-options.ts";
import { createOperator } from "../../operator/operator.ts";
import type { Push } from "../../push/push.ts";
import type { Security } from "../../server/security.ts";
import type { Store } from "../../store/contract.ts";
import type { Registry } from "../../telemetry/metrics/registry.ts";
import type { ConsoleSessions } from "../../transport/console/console-sessions.ts";
import { createMetricsPath } from "../../transport/operator/metrics-path.ts";
import { createOperatorPath } from "../../transport/operator/operator-path.ts";
import { firstOf, type ReservedPaths } from "../../transport/operator/reserved-paths.ts";
import type { ObserveSettings } from "../settings/observe-settings.ts";
import { taskTrace } from "../tracing/task-trace.ts";
import { packageVersion } from "../version.ts";

export interface ServerPathsOptions {
  readonly settings: ObserveSettings;
  /** Of programs on this machine, for the operator API. Absent: they may not use it. */
  readonly operatorToken: string | undefined;
  /** Of the console. Absent: it is turned off. */
  readonly sessions: ConsoleSessions | undefined;
  readonly registry: Registry | undefined;
  readonly agents: readonly Agent[];
  readonly engine: RunningEngine;
  readonly store: Store;
  readonly push: Push | undefined;
  readonly security: Security | undefined;
  readonly node: string;
  readonly openStreams: () => number;
  /** The most that some counts of the process may reach. */
  readonly limits: Readonly<Record<string, number>>;
}

/** The paths for operators: `/metrics` and `/operator/v1`. `undefined`: both are turned off. */
export function createServerPaths(options: ServerPathsOptions): ReservedPaths | undefined {
  const { settings, registry } = options;
  const paths: ReservedPaths[] = [];
  if (settings.metrics !== undefined && registry !== undefined)
    paths.push(createMetricsPath({ registry, token: settings.metrics.token }));
  if (settings.operator !== undefined) paths.push(operatorPath(options));
  return paths.length === 0 ? undefined : firstOf(paths);
}

function operatorPath(options: ServerPathsOptions): ReservedPaths {
  const { settings, operatorToken, sessions, registry, agents, engine, store, push, security, node } = options;
  const { openStreams, limits } = options;
  const policy = settings.operator?.policy;
  const operator = createOperator({
    ...{ store, engine, push, registry },
    traceRows: (task) => taskTrace({ ...task, events: [], children: [] }),
    server: {
      version: packageVersion(),
      node,
      startedAt: new Date().toISOString(),
      pid: process.pid,
      agents: agents.map(({ id, name, version }) => ({ id, name, version })),
      limits,
      counts: () => ({ ...engine.counts(), streams: openStreams(), ...webhookCounts(push) }),
    },
  });
  return createOperatorPath(operator, {
    token: operatorToken,
    sessions,
    remote: security === undefined || policy === undefined ? undefined : { security, policy },
  });
}

function webhookCounts(push: Push | undefined): Readonly<Record<string, number>> {
  if (push === undefined) return {};
  const { claimed, queued, posting, resting, oldestPendingMs } = push.counts();
  return {
    webhooksClaimed: claimed,
    webhooksQueued: queued,
    webhooksPosting: posting,
    webhooksResting: resting,
    webhookOldestPendingMs: oldestPendingMs,
  };
}
