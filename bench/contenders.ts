import { join } from "node:path";
import { type Bench, NotMeasurable } from "./scenario.ts";
import type { ServerProcess, ServerSpec } from "./server-process.ts";
import type { PalaverConfig } from "./servers/palaver.ts";

export const ECHO: ServerSpec = { label: "raw echo", script: "echo" };
export const PALAVER_MEMORY: ServerSpec = { label: "Palaver in memory", script: "palaver" };
export const SDK_MEMORY: ServerSpec = { label: "SDK in memory", script: "sdk" };
export const BARE_FRAMES: ServerSpec = { label: "bare node:http", script: "frames" };
export const BARE_SSE: ServerSpec = { label: "bare SSE", script: "sse" };

/** Palaver with its own SQLite file, every commit synchronised to disk. */
export function palaverDurable(bench: Bench, config: Omit<PalaverConfig, "database"> = {}): ServerSpec {
  return palaverOn(join(bench.folder(), "palaver.db"), config);
}

/** Palaver with the given SQLite file. */
export function palaverOn(database: string, config: Omit<PalaverConfig, "database"> = {}): ServerSpec {
  return { label: "Palaver durable", script: "palaver", config: { ...config, database } satisfies PalaverConfig };
}

export function sdkDatabase(bench: Bench): ServerSpec {
  return { label: "SDK on SQLite", script: "sdk", config: { database: join(bench.folder(), "sdk.db") } };
}

export interface Started {
  readonly servers: readonly ServerProcess[];
  /** The servers that were skipped, with the reason. */
  readonly notes: readonly string[];
}

/** Starts all servers that can run on this machine. */
export async function startAll(bench: Bench, specs: readonly ServerSpec[]): Promise<Started> {
  const servers: ServerProcess[] = [];
  const notes: string[] = [];
  for (const spec of specs) {
    try {
      servers.push(await bench.start(spec));
    } catch (error) {
      if (!(error instanceof NotMeasurable)) throw error;
      notes.push(`${spec.label}: skipped; ${error.message}`);
    }
  }
  return { servers, notes };
}

/**
 * Measures each server in turn, round after round, so that other load on the machine affects all alike. Resolves with
 * the figures of each server by label, in the order of the rounds.
 */
export async function alternate(
  bench: Bench,
  servers: readonly ServerProcess[],
  measure: (server: ServerProcess, round: number) => Promise<number>,
): Promise<Figures> {
  const figures = new Map<string, number[]>(servers.map(({ label }) => [label, []]));
  for (let round = 0; round < bench.runs; round += 1) {
    for (const server of servers) {
      bench.progress(`round ${round + 1} of ${bench.runs}: ${server.label}`);
      figures.get(server.label)?.push(await measure(server, round));
    }
  }
  return figures;
}

export type Figures = ReadonlyMap<string, readonly number[]>;

/** The figures of servers measured in turn. */
export interface Measured {
  readonly figures: Figures;
  /** Notes that a reader needs to judge the figures. */
  readonly notes: readonly string[];
}
