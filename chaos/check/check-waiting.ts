import type { Entry } from "../journal.ts";
import type { TaskPlan } from "../plan.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** Checks that no caller waits forever, and that nothing failed unexpectedly. */
export function checkWaiting(entries: readonly Entry[], planOf: (task: string) => TaskPlan): Discrepancy[] {
  const waiting = entries.filter((entry) => entry.kind === "waiting");
  const found: Discrepancy[] = [];
  for (const { task, what } of waiting) {
    // The task waits only because one of its parts does.
    if (what === `task ${task}` && waiting.some((other) => other.task === task && other.what !== what)) continue;
    const question = Number(/answer to question (\d+)$/.exec(what)?.[1]);
    const answer = planOf(task).answers[question - 1];
    const kind = answer?.twice === true && answer.waits ? "second-answer" : "stuck";
    found.push({ kind, task, who: "client", what: `still waits for ${what}` });
  }
  for (const entry of entries) {
    if (entry.kind === "failed") found.push({ kind: "failed", task: entry.task, who: "client", what: entry.what });
  }
  return found;
}
