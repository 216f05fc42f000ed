import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Sample } from "../../telemetry/metrics/instruments.ts";
import type { Registry } from "../../telemetry/metrics/registry.ts";

/** Milliseconds between two measurements of the event loop, and of the period that its figures are about. */
const RESOLUTION_MS = 20;
const PERIOD_MS = 15_000;
const PERCENTILES = [50, 90, 99] as const;

/** Adds the metrics of the process. Returns a function that stops the measurement of the event loop. */
export function addProcessMetrics(registry: Registry, version: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let last: readonly Sample[] = figuresOf(delay);
  const timer = setInterval(() => {
    last = figuresOf(delay);
    delay.reset();
  }, PERIOD_MS).unref();
  registry.observed(
    "gauge",
    {
      name: "palaver_event_loop_delay_seconds",
      help: "Delay of the event loop, by percentile (100 is the longest), over 15 s or the time since.",
    },
    () => (delay.count > 0 ? larger(last, figuresOf(delay)) : last),
  );
  registry.observed("gauge", { name: "palaver_build_info", help: "The version of Palaver and of Node." }, () => [
    { labels: { version, node: process.version }, value: 1 },
  ]);
  registry.observed("counter", { name: "process_cpu_seconds_total", help: "Processor time of the process." }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.observed("gauge", { name: "process_resident_memory_bytes", help: "Memory of the process." }, () =>
    process.memoryUsage.rss(),
  );
  registry.observed("gauge", { name: "nodejs_heap_size_used_bytes", help: "Used heap of JavaScript." }, () => {
    return process.memoryUsage().heapUsed;
  });
  registry.observed(
    "gauge",
    { name: "process_start_time_seconds", help: "When the process started, in seconds since 1970." },
    () => Math.round(performance.timeOrigin) / 1000,
  );
  return () => {
    clearInterval(timer);
    delay.disable();
  };
}

/** The delay beyond the interval of the measurement itself. */
function figuresOf(delay: ReturnType<typeof monitorEventLoopDelay>): readonly Sample[] {
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
  const percentiles = PERCENTILES.map((percentile) => ({
    labels: { percentile: String(percentile) },
    value: delay.count === 0 ? 0 : seconds(delay.percentile(percentile)),
  }));
  return [...percentiles, { labels: { percentile: "100" }, value: delay.count === 0 ? 0 : seconds(delay.max) }];
}

/** Figures of a period that has just begun must not hide those of the period before. */
function larger(one: readonly Sample[], other: readonly Sample[]): readonly Sample[] {
  return one.map(({ labels, value }, index) => ({ labels, value: Math.max(value, other[index]?.value ?? 0) }));
}
