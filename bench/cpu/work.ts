import type { Bench } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { getMany, getRecent } from "./get-work.ts";
import { pacedWork } from "./paced-work.ts";
import { sendWork } from "./send-work.ts";
import { streamWork } from "./stream-work.ts";

/** One kind of work whose processor time per operation is measured. */
export interface CpuWork {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  /** What one operation is. */
  readonly unit: string;
  /** A server over bare `node:http` that does the same work. */
  readonly bare: ServerSpec;
  /** How much processor time a durable Palaver may use, as a multiple of the bare server's. */
  readonly limit?: number;
  /** Prepares a server; resolves with the function that measures one round. */
  prepare(bench: Bench, server: ServerProcess): Promise<Round>;
}

/**
 * Does the work for about `seconds`. Calls `measured` for the part that counts: it resolves when the given work is done,
 * which resolves with the number of operations.
 */
export type Round = (seconds: number, measured: Measured) => Promise<void>;

export type Measured = (work: () => Promise<number>) => Promise<void>;

export const CPU_WORK: readonly CpuWork[] = [pacedWork, sendWork, getRecent, getMany, streamWork];
