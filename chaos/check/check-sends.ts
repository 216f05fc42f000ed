import type { Entry } from "../journal.ts";
import type { TaskTruth } from "../truth.ts";
import { countsOf } from "./check-messages.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** Checks that every acknowledged task exists, and that no message created two tasks. */
export function checkSends(tasks: readonly TaskTruth[], entries: readonly Entry[]): Discrepancy[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const found: Discrepancy[] = [];
  for (const entry of entries) {
    if (entry.kind !== "sent" || ids.has(entry.taskId)) continue;
    const what = `was acknowledged as task ${entry.taskId}, which is not in the store`;
    found.push({ kind: "lost", task: entry.task, who: "send", what });
  }
  for (const [name, count] of countsOf(tasks.map((task) => task.name))) {
    if (count > 1)
      found.push({ kind: "repeated", task: name, who: "send", what: `one message created ${count} tasks` });
  }
  return found;
}
