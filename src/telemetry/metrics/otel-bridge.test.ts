import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { afterEach, expect, it } from "vitest";
import { bridgeToOpenTelemetry } from "./otel-bridge.ts";
import { Registry } from "./registry.ts";

afterEach(() => metrics.disable());

it("The OpenTelemetry SDK receives the same values under the same names", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const registry = new Registry();
  const labels = [{ name: "agent", values: ["echo"] }];
  const counter = registry.counter({ name: "calls_total", help: "Calls.", labels });
  const histogram = registry.histogram({ name: "time_seconds", help: "Time.", labels }, [1, 2]);
  let size = 0;
  registry.onRefresh(async () => {
    size = 7;
  });
  registry.observed("gauge", { name: "size_bytes", help: "Size." }, () => size);
  const end = bridgeToOpenTelemetry(registry, "1.0.0");
  counter.add(["echo"], 3);
  histogram.observe(1.5, ["echo"]);
  await reader.forceFlush();
  const received = exporter.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? [];
  expect(received.map(({ descriptor: { name, unit }, dataPoints }) => [name, unit, dataPoints[0]])).toMatchObject([
    ["calls_total", "", { value: 3, attributes: { agent: "echo" } }],
    ["time_seconds", "s", { value: { sum: 1.5, count: 1, buckets: { boundaries: [1, 2], counts: [0, 1, 0] } } }],
    ["size_bytes", "By", { value: 7 }],
  ]);
  end();
  histogram.observe(1.5, ["echo"]);
  exporter.reset();
  await reader.forceFlush();
  const [time] = (exporter.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? []).filter(
    ({ descriptor }) => descriptor.name === "time_seconds",
  );
  expect(time?.dataPoints[0]?.value).toMatchObject({ count: 1 });
});
