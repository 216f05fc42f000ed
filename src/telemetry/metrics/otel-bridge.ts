import { type Meter, metrics as openTelemetry } from "@opentelemetry/api";
import type { Metric, Registry } from "./registry.ts";

/**
 * Also sends the metrics of a registry to the registered OpenTelemetry `MeterProvider`, under the same names. Counters and gauges are read when the
 * provider collects; histograms are recorded as they happen. Returns a function that ends this.
 */
export function bridgeToOpenTelemetry(registry: Registry, version: string): () => void {
  const meter = openTelemetry.getMeter("palaver", version);
  const ends = registry.metrics.map((metric) => bridge(meter, metric, registry));
  return () => {
    for (const end of ends) end();
  };
}

function bridge(meter: Meter, metric: Metric, registry: Registry): () => void {
  const { name, help: description } = metric.spec;
  const options = { description, ...unitOf(name) };
  if (metric.type === "histogram") {
    const { histogram } = metric;
    const advice = { explicitBucketBoundaries: [...histogram.limits] };
    const instrument = meter.createHistogram(name, { ...options, advice });
    histogram.listener = (value, labels) => instrument.record(value, labels);
    return () => {
      histogram.listener = undefined;
    };
  }
  const instrument =
    metric.type === "counter"
      ? meter.createObservableCounter(name, options)
      : meter.createObservableGauge(name, options);
  const observe = async (result: {
    observe(value: number, labels: Readonly<Record<string, string>>): void;
  }): Promise<void> => {
    await registry.refresh();
    for (const { labels, value } of metric.samples()) result.observe(value, labels);
  };
  instrument.addCallback(observe);
  return () => instrument.removeCallback(observe);
}

/** In the notation of UCUM, which OpenTelemetry uses. */
function unitOf(name: string): { readonly unit?: string } {
  if (/_seconds(?:_total)?$/.test(name)) return { unit: "s" };
  return /_bytes(?:_total)?$/.test(name) ? { unit: "By" } : {};
}
