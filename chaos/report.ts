import { DISCREPANCIES, type Discrepancy, type DiscrepancyKind } from "./check/discrepancy.ts";
import type { ChaosResult } from "./run.ts";

/** Number of discrepancies of each kind that are printed in full. */
const MOST_STORIES = 3;

/** Printed even if the count is 0. */
const ALWAYS: readonly DiscrepancyKind[] = ["lost", "repeated", "out-of-order", "stuck", "old-epoch"];

/** The printed result: counts, and the first discrepancies. */
export function reportOf(result: ChaosResult): string {
  const { seed, folder, counts, discrepancies, failures } = result;
  const done = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const byKind = Map.groupBy(discrepancies, ({ kind }) => kind);
  const wrong = DISCREPANCIES.flatMap((kind) => {
    const count = byKind.get(kind)?.length ?? 0;
    const isTolerated = count > 0 && failures.every((failure) => failure.kind !== kind);
    return count > 0 || ALWAYS.includes(kind) ? [`${count} ${kind}${isTolerated ? " (tolerated)" : ""}`] : [];
  });
  const shown = [...byKind.values()].flatMap((same) => same.slice(0, MOST_STORIES));
  const lines = [...shown.flatMap((discrepancy) => [...storyOf(discrepancy), ""])];
  if (discrepancies.length > shown.length) lines.push(`… and ${discrepancies.length - shown.length} more.`, "");
  lines.push(done.join(", "), ...startLine(result), wrong.join(", "));
  if (folder !== undefined) lines.push(`Seed ${seed}; the store, the logs and the journals are in ${folder}.`);
  return `${lines.join("\n")}\n`;
}

function startLine({ slowestStart }: ChaosResult): string[] {
  if (slowestStart === undefined) return [];
  const { total, load, store, serve } = slowestStart;
  const [all, ...parts] = [total, load, store, serve].map((ms) => (ms / 1000).toFixed(1));
  return [`slowest start ${all} s (${parts[0]} s to load, ${parts[1]} s to open the store, ${parts[2]} s to serve)`];
}

function storyOf({ kind, task, who, what, expected, seen }: Discrepancy): string[] {
  const lines = [`${kind}: ${who === "task" || task === "" ? "" : `${who} of `}${task || who}: ${what}`];
  if (expected !== undefined) lines.push("  the log", ...expected.map((line) => `    ${line}`));
  if (seen !== undefined) lines.push("  seen", ...seen.map((line) => `    ${line}`));
  return lines;
}
