import { parseArgs } from "node:util";
import type { StoreFaults, StoreMethod } from "../src/testing/unreliable-store.ts";
import { DISCREPANCIES, type DiscrepancyKind } from "./check/discrepancy.ts";

/** Store methods that a running server calls. Methods that open or close the store never fail. */
const IN_USE = [
  ...(["commit", "get", "list", "log", "history", "inbox", "steps", "findByMessage", "webhooks"] as const),
  ...(["positions", "changes", "claimDue", "claimWebhooks", "waitingEntries", "claimsOf"] as const),
] satisfies readonly StoreMethod[];

/** The faults of the store, by the names of `--store`. */
const STORES: Readonly<Record<string, StoreFaults | undefined>> = {
  sqlite: undefined,
  "sqlite-slow": { delay: { min: 0, max: 40 } },
  "sqlite-faulty": {
    delay: { min: 0, max: 20 },
    failures: Object.fromEntries(IN_USE.map((method) => [method, 0.02])),
  },
  "sqlite-lossy": { delay: { min: 0, max: 20 }, lost: 0.02, reorders: true },
};

export interface ChaosOptions {
  readonly seed: string;
  /** Milliseconds. */
  readonly duration: number;
  readonly kills: number;
  readonly store: StoreFaults | undefined;
  readonly clients: number;
  readonly concurrency: number;
  readonly tolerate: ReadonlySet<DiscrepancyKind>;
  readonly nodeOptions: readonly string[];
  readonly dir: string | undefined;
  readonly keep: boolean;
  readonly help: boolean;
}

export const CHAOS_USAGE: string = `npm run chaos -- [options]

Runs a real server on SQLite, with clients and a webhook receiver in separate processes, and disturbs them: kill -9,
SIGTERM, SIGSTOP, cut and stalled connections, slow readers, a slow or failing store. When all tasks have ended, it compares
the events that every client, webhook and step recorded with the log. It exits with 0 only if no event was lost, repeated or
out of order and nothing is stuck. After a failure it prints the folder with the store, the logs and the journals.

  --seed TEXT        seed of all random decisions (default: a new one)
  --minutes N        how long tasks are started and disturbed (default 1)
  --kills N          number of kill -9 in that time (default: one every 6 s)
  --store NAME       sqlite, sqlite-slow (calls take up to 40 ms longer), sqlite-faulty (up to 20 ms, 2 % fail),
                     sqlite-lossy (up to 20 ms, 2 % of the answers to writes are lost) (default sqlite)
  --clients N        client processes; they use 1.0 JSON-RPC, 1.0 REST and 0.3 JSON-RPC in turn (default 3)
  --concurrency N    concurrent tasks per client (default 4)
  --tolerate KINDS   count these discrepancies without failing; a comma-separated list of
                     ${DISCREPANCIES.join(", ")}
  --node-options S   Node options for the server, e.g. "--max-old-space-size=200"
  --dir DIR          put the run's files below DIR (default: the system's temporary folder)
  --keep             keep the files even if the run succeeds
  --help             print this text

npm run chaos -- --nodes 3 --faults 1000 [--seed TEXT] [--clients N] [--concurrency N] [--tolerate KINDS] [--dir DIR] [--keep]

The same with several nodes on one PostgreSQL, behind a proxy that gives each connection to the next node. Of the faults,
80 % concern the network (cut and delayed connections of callers and to the database, pg_terminate_backend, lost hints), 15 %
are kill -9, and 5 % are severe: SIGSTOP for 3 to 8 s, a crash of the database, also while nodes take over tasks, and a jump
of a node's clock. Each fault is printed. Triggers in the database record which process wrote what: a write of a process that
does not hold the lease is an old-epoch.

  --nodes N          nodes (default 3)
  --faults N         faults (default 100)
  --pace N           average milliseconds between two faults (default 2000)
  --lease N          lease of a node in milliseconds (default: that of PostgreSQL, 5000)

Timing is not repeatable, so a seed that failed may pass the next time: run it again, longer, or with a slower store.
`;

/** Throws a `TypeError` that describes the invalid option. */
export function readChaosOptions(args: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      minutes: { type: "string", default: "1" },
      kills: { type: "string" },
      store: { type: "string", default: "sqlite" },
      clients: { type: "string", default: "3" },
      concurrency: { type: "string", default: "4" },
      tolerate: { type: "string", default: "" },
      "node-options": { type: "string", default: "" },
      dir: { type: "string" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (!Object.hasOwn(STORES, values.store)) {
    throw new TypeError(`--store must be one of ${Object.keys(STORES).join(", ")}, not ${values.store}.`);
  }
  const duration = numberFrom("minutes", values.minutes, { least: 0.01, whole: false }) * 60_000;
  const kills = values.kills ?? String(Math.round(duration / 6000));
  return {
    seed: values.seed ?? Math.random().toString(36).slice(2, 8),
    duration,
    kills: numberFrom("kills", kills, { least: 0, whole: true }),
    store: STORES[values.store],
    clients: numberFrom("clients", values.clients, { least: 1, whole: true }),
    concurrency: numberFrom("concurrency", values.concurrency, { least: 1, whole: true }),
    tolerate: kindsFrom(values.tolerate),
    nodeOptions: values["node-options"].split(" ").filter((word) => word !== ""),
    dir: values.dir,
    keep: values.keep,
    help: values.help,
  };
}

/** The kinds in a comma-separated list. Throws a `TypeError` that names an unknown one. */
export function kindsFrom(list: string): ReadonlySet<DiscrepancyKind> {
  return new Set(wordsOf(list).map(kindFrom));
}

function wordsOf(list: string): string[] {
  return list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function kindFrom(word: string): DiscrepancyKind {
  const kind = DISCREPANCIES.find((known) => known === word);
  if (kind === undefined) throw new TypeError(`--tolerate: ${word} is not one of ${DISCREPANCIES.join(", ")}.`);
  return kind;
}

/** Throws a `TypeError` that names the option. */
export function numberFrom(
  name: string,
  text: string,
  { least, whole }: { readonly least: number; readonly whole: boolean },
): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= least && (!whole || Number.isInteger(value))) return value;
  throw new TypeError(`--${name} must be ${whole ? "an integer" : "a number"} of at least ${least}, not ${text}.`);
}
