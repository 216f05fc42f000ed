import { REFUSAL_REASONS, refusalOf } from "../../auth/verify/refusal.ts";
import type { Bus } from "../../bus/contract.ts";
import type { Logger } from "../../internal/logger.ts";
import type { PushHooks } from "../../push/contract.ts";
import type { Store } from "../../store/contract.ts";
import type { ReportCall } from "../../telemetry/call-report.ts";
import { createServerMetrics, type ServerMetrics } from "../../telemetry/metrics/server-metrics.ts";
import { DIALECT_NAMES } from "../../wire/dialect-names.ts";
import type { ObserveSettings } from "../settings/observe-settings.ts";
import { packageVersion } from "../version.ts";
import { sendToMeterProvider } from "./load-otel.ts";
import { measureBus } from "./measured-bus.ts";
import { MeasuredStore } from "./measured-store.ts";
import { addPartMetrics, type MeasuredParts } from "./part-metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { createRefusalLog, createRequestLog } from "./request-log.ts";

export interface ObserveServerOptions {
  readonly settings: ObserveSettings;
  readonly agents: readonly string[];
  readonly node: string;
  readonly logger: Logger;
}

/** What a server uses to be observed. Without metrics, stores and buses are used as they are. */
export interface ObservedServer {
  /** Absent: metrics are turned off. */
  readonly metrics: ServerMetrics | undefined;
  readonly reportCall: ReportCall;
  store(store: Store): Store;
  bus(bus: Bus): Bus;
  push(hooks: PushHooks): PushHooks;
  /** Adds the metrics of these parts. Called once, when they exist. */
  addParts(parts: Omit<MeasuredParts, "leaseAge" | "logger">): Promise<void>;
  close(): void;
}

export function observeServer({ settings, agents, node, logger }: ObserveServerOptions): ObservedServer {
  const metrics =
    settings.metrics === undefined
      ? undefined
      : createServerMetrics({ agents, dialects: DIALECT_NAMES, refusals: REFUSAL_REASONS });
  const log =
    settings.requestLog === undefined
      ? createRefusalLog(logger)
      : createRequestLog({ format: settings.requestLog, isColored: isColored(), stream: process.stderr });
  let measured: MeasuredStore | undefined;
  let stop: (() => void) | undefined;
  return {
    metrics,
    reportCall: metrics === undefined ? log : countAndLog(metrics, log),
    store(store) {
      if (metrics === undefined) return store;
      measured = new MeasuredStore(store, metrics);
      return measured;
    },
    bus: (bus) => (metrics === undefined ? bus : measureBus(bus, node, metrics)),
    push: (hooks) => (metrics === undefined ? hooks : withDeliveries(hooks, metrics)),
    async addParts(parts) {
      if (metrics === undefined) return;
      addPartMetrics(metrics.registry, { ...parts, leaseAge: () => measured?.leaseAge, logger });
      const stopProcess = addProcessMetrics(metrics.registry, packageVersion());
      const bridge = await sendToMeterProvider(metrics.registry);
      stop = () => {
        stopProcess();
        bridge?.();
      };
    },
    close: () => stop?.(),
  };
}

function countAndLog(metrics: ServerMetrics, log: ReportCall): ReportCall {
  return (report) => {
    metrics.call(report, report.error === undefined ? undefined : refusalOf(report.error)?.reason);
    log(report);
  };
}

/** The hooks of the host, and metrics of deliveries. */
function withDeliveries(hooks: PushHooks, metrics: ServerMetrics): PushHooks {
  const delivery = hooks.on?.delivery?.bind(hooks.on);
  return {
    on: {
      ...hooks.on,
      delivery(record) {
        metrics.delivered(record.outcome, record.durationMs);
        return delivery?.(record);
      },
    },
  };
}

/** See https://no-color.org. */
function isColored(): boolean {
  return process.stderr.isTTY && !process.env["NO_COLOR"];
}
