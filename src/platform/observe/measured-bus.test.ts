import { expect, it, vi } from "vitest";
import type { Bus, BusSubscriber, Hint } from "../../bus/contract.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { createServerMetrics } from "../../telemetry/metrics/server-metrics.ts";
import { measureBus } from "./measured-bus.ts";

const HINT: Hint = { kind: "log", task: "t" as TaskId, seq: 3 };

function valuesOf(metrics: ReturnType<typeof createServerMetrics>): Record<string, number> {
  const values: Record<string, number> = {};
  for (const family of metrics.registry.read()) {
    if (family.type === "histogram") values[family.spec.name] = family.distributions[0]?.counts.at(-1) ?? 0;
    else values[family.spec.name] = family.samples[0]?.value ?? 0;
  }
  return values;
}

it("The lag of hints is measured once per second, and a hint that does not return counts as lost", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    vi.advanceTimersByTime(5000);
    const subscribers: BusSubscriber[] = [];
    const watched = new Set<string>();
    const slow: Bus = {
      publish: () => {},
      subscribe: (subscriber) => {
        subscribers.push(subscriber);
        return () => {};
      },
      watch: (task) => {
        watched.add(task);
        return () => watched.delete(task);
      },
      close: async () => {},
    };
    const metrics = createServerMetrics({ agents: [], dialects: [], refusals: [] });
    const bus = measureBus(slow, "node", metrics);
    bus.publish([HINT]);
    bus.publish([{ ...HINT, seq: 4 }]);
    expect([...watched]).toEqual(["t"]);
    vi.advanceTimersByTime(250);
    for (const { onHints } of subscribers) onHints([HINT]);
    expect(watched.size).toBe(0);
    expect(valuesOf(metrics)).toMatchObject({ palaver_hint_lag_seconds: 1, palaver_hints_lost_total: 0 });
    vi.advanceTimersByTime(1000);
    bus.publish([HINT]);
    vi.advanceTimersByTime(10_001);
    bus.publish([HINT]);
    expect(valuesOf(metrics)).toMatchObject({ palaver_hint_lag_seconds: 1, palaver_hints_lost_total: 1 });
  } finally {
    vi.useRealTimers();
  }
});
