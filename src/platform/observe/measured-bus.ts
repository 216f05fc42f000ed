import type { Bus, BusSubscriber, Hint } from "../../bus/contract.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { ServerMetrics } from "../../telemetry/metrics/server-metrics.ts";

/** Milliseconds between two measured hints, and after which a hint counts as lost. */
const INTERVAL_MS = 1000;
const LOST_AFTER_MS = 10_000;

/** A hint on its way through the bus. */
interface Probe {
  readonly task: TaskId;
  readonly seq: number;
  readonly at: number;
  readonly unwatch: () => void;
}

/**
 * Measures how long the bus takes to return a hint to the process that sent it. A bus delivers the hints of a process to that process as well; other
 * processes wait about as long.
 */
export function measureBus(bus: Bus, node: string, metrics: ServerMetrics): Bus {
  let probe: Probe | undefined;
  let nextAt = 0;
  const received = (hints: readonly Hint[]): void => {
    if (probe === undefined) return;
    const { task, seq, at, unwatch } = probe;
    if (!hints.some((hint) => hint.kind === "log" && hint.task === task && hint.seq >= seq)) return;
    probe = undefined;
    unwatch();
    metrics.hintReceived(performance.now() - at);
  };
  const send = (hints: readonly Hint[], now: number): void => {
    if (probe !== undefined) {
      if (now - probe.at < LOST_AFTER_MS) return;
      probe.unwatch();
      probe = undefined;
      metrics.hintLost();
    }
    const hint = hints.find(({ kind }) => kind === "log");
    if (hint?.kind !== "log") return;
    nextAt = now + INTERVAL_MS;
    probe = { task: hint.task, seq: hint.seq, at: now, unwatch: bus.watch(hint.task) };
  };
  const subscriber: BusSubscriber = { node, onHints: received, onReconnect: () => {} };
  const unsubscribe = bus.subscribe(subscriber);
  return {
    publish(hints) {
      const now = performance.now();
      if (now >= nextAt) send(hints, now);
      bus.publish(hints);
    },
    subscribe: (other) => bus.subscribe(other),
    watch: (task) => bus.watch(task),
    close() {
      unsubscribe();
      return bus.close();
    },
  };
}
