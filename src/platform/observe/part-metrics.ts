import type { EngineCounts } from "../../engine/engine-options.ts";
import type { Logger } from "../../internal/logger.ts";
import type { WebhookCounts } from "../../push/claimed-webhooks.ts";
import type { Store, StoreStatistics } from "../../store/contract.ts";
import type { Registry } from "../../telemetry/metrics/registry.ts";

/** The parts of a server that metrics are read from. */
export interface MeasuredParts {
  readonly store: Store;
  readonly counts: () => EngineCounts;
  /** Absent: webhooks are not supported. */
  readonly webhooks?: (() => WebhookCounts & { readonly posting: number }) | undefined;
  readonly openStreams: () => number;
  /** Milliseconds; see `MeasuredStore`. */
  readonly leaseAge: () => number | undefined;
  readonly logger: Logger;
}

/** Milliseconds for which the figures of the store are used again. */
const MAX_AGE_MS = 5000;

/** Adds the metrics that are read from the parts of a server when they are asked for. */
export function addPartMetrics(registry: Registry, parts: MeasuredParts): void {
  const statistics = readStatistics(registry, parts);
  const { counts, webhooks, openStreams, leaseAge } = parts;
  registry.observed("gauge", { name: "palaver_tasks", help: "Stored tasks, by state." }, () =>
    Object.entries(statistics()?.tasks ?? {}).map(([state, value]) => ({ labels: { state }, value })),
  );
  registry.observed(
    "gauge",
    {
      name: "palaver_runs",
      help: "Runs: running, queued for a slot, orphaned (they lost their task and have not returned), and parked tasks without a run.",
    },
    () => {
      const { running, queued, orphans } = counts();
      const parked = statistics()?.parked;
      return [
        { labels: { state: "running" }, value: running },
        { labels: { state: "queued" }, value: queued },
        { labels: { state: "orphaned" }, value: orphans },
        ...(parked === undefined ? [] : [{ labels: { state: "parked" }, value: parked }]),
      ];
    },
  );
  registry.observed(
    "gauge",
    { name: "palaver_live_tasks", help: "Tasks with a writer in this process." },
    () => counts().live,
  );
  registry.observed(
    "gauge",
    { name: "palaver_subscribers", help: "Open subscriptions to tasks." },
    () => counts().subscribers,
  );
  registry.observed("gauge", { name: "palaver_streams", help: "Open streams to callers." }, openStreams);
  registry.observed(
    "counter",
    {
      name: "palaver_store_refusals_total",
      help: "Reads and writes that failed because the store was unavailable for too long.",
    },
    () => counts().storeRefusals,
  );
  registry.observed(
    "gauge",
    { name: "palaver_store_bytes", help: "Size of the store on disk." },
    () => statistics()?.bytes,
  );
  registry.observed(
    "gauge",
    { name: "palaver_nodes", help: "Processes that share the store." },
    () => statistics()?.nodes.length,
  );
  registry.observed(
    "gauge",
    { name: "palaver_lease_age_seconds", help: "Time since this process renewed its lease in the store." },
    () => {
      const age = leaseAge();
      return age === undefined ? undefined : age / 1000;
    },
  );
  if (webhooks !== undefined) addWebhookMetrics(registry, webhooks);
}

function addWebhookMetrics(registry: Registry, counts: () => WebhookCounts & { readonly posting: number }): void {
  registry.observed(
    "gauge",
    {
      name: "palaver_webhooks",
      help: "Webhooks of this process: claimed; of these queued, being notified, and waiting for a retry.",
    },
    () => {
      const { claimed, queued, posting, resting } = counts();
      return Object.entries({ claimed, queued, posting, resting }).map(([phase, value]) => ({
        labels: { phase },
        value,
      }));
    },
  );
  registry.observed(
    "gauge",
    {
      name: "palaver_webhook_oldest_pending_seconds",
      help: "Age of the oldest event that a webhook of this process has not received.",
    },
    () => counts().oldestPendingMs / 1000,
  );
}

/** The figures of the store: read before metrics are, and used again for 5 s. */
function readStatistics(registry: Registry, { store, logger }: MeasuredParts): () => StoreStatistics | undefined {
  let known: StoreStatistics | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    try {
      known = await store.statistics?.();
    } catch (error) {
      known = undefined;
      logger.warn("The figures of the store could not be read; metrics lack them", { error });
    }
    readAt = performance.now();
    reading = undefined;
  };
  registry.onRefresh(async () => {
    if (performance.now() - readAt >= MAX_AGE_MS) reading ??= read();
    await reading;
  });
  return () => known;
}
