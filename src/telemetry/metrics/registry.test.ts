import { describe, expect, it } from "vitest";
import { prometheusText } from "./prometheus-text.ts";
import { Registry } from "./registry.ts";

describe("The metrics registry", () => {
  it("writes counters, gauges and histograms in the text format of Prometheus", () => {
    const registry = new Registry();
    const calls = registry.counter({
      name: "calls_total",
      help: "Calls.\nAll.",
      labels: [{ name: "agent", values: ["echo", 'a"b\\c\nd'] }],
    });
    calls.add(["echo"]);
    calls.add(['a"b\\c\nd'], 2);
    registry.observed("gauge", { name: "size_bytes", help: "Size." }, () => 1.5);
    registry.observed("gauge", { name: "unknown", help: "Not known." }, () => undefined);
    const times = registry.histogram({ name: "time_seconds", help: "Time." }, [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) times.observe(value);
    expect(prometheusText(registry.read())).toBe(
      [
        "# HELP calls_total Calls.\\nAll.",
        "# TYPE calls_total counter",
        'calls_total{agent="echo"} 1',
        'calls_total{agent="a\\"b\\\\c\\nd"} 2',
        "# HELP size_bytes Size.",
        "# TYPE size_bytes gauge",
        "size_bytes 1.5",
        "# HELP time_seconds Time.",
        "# TYPE time_seconds histogram",
        'time_seconds_bucket{le="0.1"} 2',
        'time_seconds_bucket{le="1"} 3',
        'time_seconds_bucket{le="+Inf"} 4',
        "time_seconds_sum 7.65",
        "time_seconds_count 4",
        "",
      ].join("\n"),
    );
  });

  it("counts values that are not listed as `other`", () => {
    const counter = new Registry().counter({
      name: "calls_total",
      help: "Calls.",
      labels: [{ name: "agent", values: ["echo"] }],
    });
    for (const agent of ["x", "__proto__", "constructor", "", "echo\n"]) counter.add([agent]);
    counter.add([]);
    expect(counter.samples()).toEqual([{ labels: { agent: "other" }, value: 6 }]);
  });

  it("has at most the given number of series, and loses no count", () => {
    const values = Array.from({ length: 50 }, (_, index) => `v${index}`);
    const counter = new Registry().counter({
      ...{ name: "calls_total", help: "Calls.", maxSeries: 10 },
      labels: [
        { name: "one", values },
        { name: "two", values },
      ],
    });
    for (const one of values) for (const two of values) counter.add([one, two]);
    const samples = counter.samples();
    expect(samples).toHaveLength(10);
    expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(2500);
    expect(samples.at(-1)).toEqual({ labels: { one: "other", two: "other" }, value: 2491 });
  });
});
