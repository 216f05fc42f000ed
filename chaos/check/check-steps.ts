import type { Entry } from "../journal.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** Checks that no step ran again after its result was committed. Before that it may run several times. */
export function checkSteps(entries: readonly Entry[]): Discrepancy[] {
  const committedBy = new Map<string, number>();
  const found: Discrepancy[] = [];
  for (const entry of entries) {
    if (entry.kind !== "step") continue;
    const { key, moment, pid } = entry;
    if (moment === "committed") {
      if (!committedBy.has(key)) committedBy.set(key, pid);
      continue;
    }
    const before = committedBy.get(key);
    if (before === undefined) continue;
    const what = `ran again in process ${pid} after process ${before} had committed its result`;
    found.push({ kind: "step-again", task: key.split("/", 1)[0] ?? "", who: `step ${key}`, what });
  }
  return found;
}
