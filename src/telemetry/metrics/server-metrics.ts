import { ERROR_CODES } from "../../protocol/error.ts";
import { OPERATIONS } from "../../protocol/operation.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { CallReport } from "../call-report.ts";
import { Registry } from "./registry.ts";
import { OTHER } from "./series-index.ts";

/** The values of labels that only the server knows. */
export interface ServerLabels {
  /** Ids of the served agents. */
  readonly agents: readonly string[];
  readonly dialects: readonly string[];
  /** Reasons for which credentials are refused. */
  readonly refusals: readonly string[];
}

/** Seconds. From a read of memory to a stream of an hour. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
const COMMIT_DURATIONS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const COMMIT_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** The outcomes of webhook deliveries, as `DeliveryRecord` has them. */
const DELIVERY_OUTCOMES = ["delivered", "retried", "given-up", "refused", "dropped"];

/** The facts of a commit that was applied. */
export interface CommittedFacts {
  readonly operations: number;
  readonly durationMs: number;
  /** Characters of the events that were added to logs; bytes, if all are ASCII. */
  readonly logLength: number;
  readonly created: number;
  /** The states of the tasks that it ended. */
  readonly ended: readonly TaskState[];
}

/** The metrics that events change. Those that are read from the server's parts are added by the platform. */
export interface ServerMetrics {
  readonly registry: Registry;
  call(report: CallReport, refusal: string | undefined): void;
  rateLimited(limit: "caller" | "address"): void;
  committed(facts: CommittedFacts): void;
  commitFailed(): void;
  delivered(outcome: string, durationMs: number): void;
  hintReceived(lagMs: number): void;
  hintLost(): void;
  /** A call of another agent has ended: `completed`, or the code of its error. */
  readonly called: (agent: string, outcome: string) => void;
  /** A task has reported usage. */
  readonly used: (agent: string, usage: UsageFacts) => void;
}

/** How calls of other agents end: as in `CallError`. */
const CALL_OUTCOMES = [
  ...["completed", "call-failed", "call-rejected", "call-canceled", "call-timeout", "call-needs-input"],
  ...["call-invalid-result", "call-unavailable", "outcome-unknown", "call-depth", "call-cycle", "call-fan-out"],
  ...["call-limit", "call-rate", "call-agents", "call-cool-down", "call-budget", "call-deadline", "call-forbidden"],
  ...["call-unknown-agent", "call-blocked-url"],
];

/** What `task.usage` was called with. */
export interface UsageFacts {
  readonly counters: readonly (readonly [name: string, value: number])[];
}

/** The counters of usage that have a series of their own. */
const USAGE_COUNTERS = [
  ...["inputTokens", "outputTokens", "totalTokens", "cachedInputTokens", "reasoningTokens"],
  ...["modelCalls", "toolCalls", "cost"],
];

export function createServerMetrics({ agents, dialects, refusals }: ServerLabels): ServerMetrics {
  const registry = new Registry();
  const agent = { name: "agent", values: agents };
  const operation = { name: "operation", values: [...OPERATIONS, "card"] };
  const calls = registry.counter({
    name: "palaver_calls_total",
    help: "Calls that were answered; streams, when they ended.",
    labels: [
      ...[agent, operation, { name: "dialect", values: [...dialects, "none"] }],
      { name: "outcome", values: ["ok", ...ERROR_CODES] },
    ],
  });
  const durations = registry.histogram(
    {
      name: "palaver_call_duration_seconds",
      help: "Time from a request to its answer; of streams, to their end.",
      labels: [agent, operation],
    },
    DURATIONS,
  );
  const refused = registry.counter({
    name: "palaver_credentials_refused_total",
    help: "Calls whose credentials were refused, by reason.",
    labels: [{ name: "reason", values: refusals }],
  });
  const limited = registry.counter({
    name: "palaver_rate_limit_refusals_total",
    help: "Requests that a rate limit refused: of the caller, or of the network address.",
    labels: [{ name: "limit", values: ["caller", "address"] }],
  });
  const commitTimes = registry.histogram(
    { name: "palaver_commit_duration_seconds", help: "Time of a transaction of the store." },
    COMMIT_DURATIONS,
  );
  const commitSizes = registry.histogram(
    { name: "palaver_commit_operations", help: "Operations in one transaction of the store." },
    COMMIT_SIZES,
  );
  const commitFailures = registry.counter({
    name: "palaver_commit_failures_total",
    help: "Transactions of the store that failed. The server retries them.",
  });
  const logBytes = registry.counter({
    name: "palaver_log_written_bytes_total",
    help: "Size of the events that were written to the logs of tasks, in characters.",
  });
  const created = registry.counter({ name: "palaver_tasks_created_total", help: "Tasks that were created." });
  const ended = registry.counter({
    name: "palaver_tasks_ended_total",
    help: "Tasks that ended, by their last state.",
    labels: [{ name: "state", values: TASK_STATES }],
  });
  const deliveries = registry.counter({
    name: "palaver_webhook_deliveries_total",
    help: "Attempts to notify a webhook, by outcome.",
    labels: [{ name: "outcome", values: DELIVERY_OUTCOMES }],
  });
  const deliveryTimes = registry.histogram(
    { name: "palaver_webhook_delivery_duration_seconds", help: "Time of an attempt to notify a webhook." },
    DURATIONS,
  );
  const hintLag = registry.histogram(
    {
      name: "palaver_hint_lag_seconds",
      help: "Time until the bus returned a hint of this process to it; one hint per second is measured.",
    },
    COMMIT_DURATIONS,
  );
  const lostHints = registry.counter({
    name: "palaver_hints_lost_total",
    help: "Measured hints that the bus did not return within 10 s.",
  });
  const agentCalls = registry.counter({
    name: "palaver_agent_calls_total",
    help: "Calls of other agents by agents of this server (task.call) that have ended, by outcome.",
    labels: [agent, { name: "outcome", values: CALL_OUTCOMES }],
  });
  const usage = registry.counter({
    name: "palaver_usage_total",
    help: "What tasks have used (task.usage): tokens, calls and cost.",
    labels: [agent, { name: "counter", values: USAGE_COUNTERS }],
  });
  return {
    registry,
    called: (id, outcome) => agentCalls.add([id, outcome]),
    used(id, { counters }) {
      for (const [name, value] of counters) if (value > 0) usage.add([id, name], value);
    },
    call({ agent: id, operation: name = OTHER, dialect = "none", error, durationMs }, refusal) {
      calls.add([id, name, dialect, error?.code ?? "ok"]);
      durations.observe(durationMs / 1000, [id, name]);
      if (refusal !== undefined) refused.add([refusal]);
      if (error?.code === "rate-limited") limited.add(["caller"]);
    },
    rateLimited: (limit) => limited.add([limit]),
    committed(facts) {
      commitTimes.observe(facts.durationMs / 1000);
      commitSizes.observe(facts.operations);
      if (facts.logLength > 0) logBytes.add([], facts.logLength);
      if (facts.created > 0) created.add([], facts.created);
      for (const state of facts.ended) ended.add([state]);
    },
    commitFailed: () => commitFailures.add(),
    delivered(outcome, durationMs) {
      deliveries.add([outcome]);
      deliveryTimes.observe(durationMs / 1000);
    },
    hintReceived: (lagMs) => hintLag.observe(lagMs / 1000),
    hintLost: () => lostHints.add(),
  };
}
