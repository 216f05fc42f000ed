import { parseArgs } from "node:util";
import { numberFrom } from "../options.ts";
import { LEAST_SAMPLES } from "./verdict.ts";

export interface SoakOptions {
  /** Milliseconds. */
  readonly duration: number;
  /** Milliseconds between two samples. */
  readonly interval: number;
  readonly clients: number;
  readonly concurrency: number;
  readonly nodeOptions: readonly string[];
  readonly dir: string | undefined;
  readonly help: boolean;
}

export const SOAK_USAGE: string = `npm run soak -- [options]

Runs a real server on SQLite under a constant mixed load (sends, streams, gets, lists, questions, messages, cancels, webhooks)
with retention on, prints the resource use of its process and its store at every interval, and reports at the end whether a
measure grows. The first quarter of the time is for warming up; the median of the last quarter is compared with that of the
second. The limits are in chaos/soak/verdict.ts. It exits with 1 if a measure grew by more than its limit.

  --minutes N        duration (default 10). Small leaks need long runs: the compared quarters are half the duration apart
  --interval N       seconds between samples (default: 40 samples in all, at most one every 10 s)
  --clients N        client processes; they use 1.0 JSON-RPC, 1.0 REST and 0.3 JSON-RPC in turn (default 3)
  --concurrency N    concurrent tasks per client (default 4)
  --node-options S   Node options for the server
  --dir DIR          put the run's files below DIR (default: the system's temporary folder)
  --help             print this text
`;

/** Throws a `TypeError` that describes the invalid option. */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "10" },
      interval: { type: "string" },
      clients: { type: "string", default: "3" },
      concurrency: { type: "string", default: "4" },
      "node-options": { type: "string", default: "" },
      dir: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const duration = numberFrom("minutes", values.minutes, { least: 0.1, whole: false }) * 60_000;
  const usual = String(Math.min(10, duration / 40_000));
  const interval = numberFrom("interval", values.interval ?? usual, { least: 0.1, whole: false }) * 1000;
  if (duration / interval < LEAST_SAMPLES) {
    throw new TypeError(`--minutes and --interval must allow at least ${LEAST_SAMPLES} samples.`);
  }
  return {
    duration,
    interval,
    clients: numberFrom("clients", values.clients, { least: 1, whole: true }),
    concurrency: numberFrom("concurrency", values.concurrency, { least: 1, whole: true }),
    nodeOptions: values["node-options"].split(" ").filter((word) => word !== ""),
    dir: values.dir,
    help: values.help,
  };
}
