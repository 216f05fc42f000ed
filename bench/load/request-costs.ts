import type { Measured } from "../contenders.ts";
import type { ServerProcess } from "../server-process.ts";
import { median } from "../statistics.ts";
import { applyLoad, type Load, type LoadResult } from "./wrk.ts";

/** Records the processor time per request of each server, which other programs on the machine hardly affect. */
export class RequestCosts {
  readonly #costs = new Map<string, number[]>();

  /** Applies the load and records its cost. */
  async measure(server: ServerProcess, load: Omit<Load, "port">): Promise<LoadResult> {
    const before = await server.usage({ collect: false });
    const result = await applyLoad({ ...load, port: server.port });
    const after = await server.usage({ collect: false });
    const costs = this.#costs.get(server.label) ?? [];
    costs.push(((after.cpuSeconds - before.cpuSeconds) * 1e6) / result.requests);
    this.#costs.set(server.label, costs);
    return result;
  }

  /** The cost as text, for all threads together. */
  describe(label: string): string {
    return `${Math.round(median(this.#costs.get(label) ?? []))} µs of CPU each`;
  }

  /** Microseconds per run, by label. */
  all(): Record<string, readonly number[]> {
    return Object.fromEntries(this.#costs);
  }
}

/** Requests per second, and their cost. */
export interface MeasuredLoad extends Measured {
  readonly costs: RequestCosts;
}
