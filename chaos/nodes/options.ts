import { parseArgs } from "node:util";
import type { DiscrepancyKind } from "../check/discrepancy.ts";
import { kindsFrom, numberFrom } from "../options.ts";

export interface NodesOptions {
  readonly seed: string;
  readonly nodes: number;
  readonly faults: number;
  /** Average milliseconds between two faults. */
  readonly pace: number;
  /** Milliseconds. Absent: the default of a node. */
  readonly lease: number | undefined;
  readonly clients: number;
  readonly concurrency: number;
  readonly tolerate: ReadonlySet<DiscrepancyKind>;
  readonly nodeOptions: readonly string[];
  readonly dir: string | undefined;
  readonly keep: boolean;
}

/** Throws a `TypeError` that describes the invalid option. */
export function readNodesOptions(args: readonly string[]): NodesOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      nodes: { type: "string", default: "3" },
      faults: { type: "string", default: "100" },
      pace: { type: "string", default: "2000" },
      lease: { type: "string" },
      clients: { type: "string", default: "3" },
      concurrency: { type: "string", default: "4" },
      tolerate: { type: "string", default: "" },
      "node-options": { type: "string", default: "" },
      dir: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  return {
    seed: values.seed ?? Math.random().toString(36).slice(2, 8),
    nodes: numberFrom("nodes", values.nodes, { least: 1, whole: true }),
    faults: numberFrom("faults", values.faults, { least: 0, whole: true }),
    pace: numberFrom("pace", values.pace, { least: 0, whole: true }),
    lease: values.lease === undefined ? undefined : numberFrom("lease", values.lease, { least: 500, whole: true }),
    clients: numberFrom("clients", values.clients, { least: 1, whole: true }),
    concurrency: numberFrom("concurrency", values.concurrency, { least: 1, whole: true }),
    tolerate: kindsFrom(values.tolerate),
    nodeOptions: values["node-options"].split(" ").filter((word) => word !== ""),
    dir: values.dir,
    keep: values.keep,
  };
}
