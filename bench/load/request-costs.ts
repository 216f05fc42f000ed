import type { Measured } from "../contenders.ts";
import type { ServerProcess } from "../server-process.ts";
import { median } from "../statistics.ts";
import { applyLoad, type Load, type LoadResult } from "./wrk.ts";

/** Remembers what every request cost each server in processor time, which other programs on the machine hardly change. */
export class RequestCosts {
  readonly #costs = new Map<string, number[]>();

  /** Puts the load on and notes its cost. */
  async measure(server: ServerProcess, load: Omit<Load, "port">): Promise<LoadResult> {
    const before = await server.usage({ collect: false });
    const result = await applyLoad({ ...load, port: server.port });
    const after = await server.usage({ collect: false });
    const costs = this.#costs.get(server.label) ?? [];
    costs.push(((after.cpuSeconds - before.cpuSeconds) * 1e6) / result.requests);
    this.#costs.set(server.label, costs);
    return result;
  }

  /** In words, all threads together. */
  describe(label: string): string {
    return `${Math.round(median(this.#costs.get(label) ?? []))} µs of CPU each`;
  }

  /** Microseconds, run by run, by label. */
  all(): Record<string, readonly number[]> {
    return Object.fromEntries(this.#costs);
  }
}

/** Requests per second, and what they cost. */
export interface MeasuredLoad extends Measured {
  readonly costs: RequestCosts;
}
