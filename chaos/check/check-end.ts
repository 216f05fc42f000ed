import type { Entry } from "../journal.ts";
import type { TaskPlan } from "../plan.ts";
import { chunkText } from "../server/agent.ts";
import type { TaskTruth } from "../truth.ts";
import type { Discrepancy } from "./discrepancy.ts";

const TERMINAL: readonly string[] = ["completed", "failed", "canceled", "rejected"];

/** Checks that the task ended as its script and its caller's cancel require, with the artifacts of the script. */
export function checkEnd(truth: TaskTruth, plan: TaskPlan, entries: readonly Entry[]): Discrepancy[] {
  const { name: task, state, log } = truth;
  const last = log.at(-1) ?? "";
  const found = (kind: Discrepancy["kind"], what: string): Discrepancy[] => [
    { kind, task, who: "task", what, seen: log.slice(-8) },
  ];
  if (!TERMINAL.includes(state)) return found("stuck", `stays ${state} forever`);
  if (last.includes("attempts-exhausted")) return found("attempts-exhausted", `ended with ${last}`);
  const cancel = entries.find((entry) => entry.kind === "canceled");
  if (state === "canceled") {
    return plan.cancelAfter === undefined ? found("ended-wrong", "was canceled although no caller canceled it") : [];
  }
  if (cancel?.outcome === "canceled") return found("ended-wrong", `ended as ${state} after a successful cancel`);
  if (state !== "completed") return found("ended-wrong", `ended with ${last}`);
  return checkContents(truth, plan);
}

function checkContents({ name: task, artifacts }: TaskTruth, { actions }: TaskPlan): Discrepancy[] {
  const { output = "", steps = "", answers = "" } = artifacts;
  const written = actions.map((action) =>
    action.do === "write"
      ? Array.from({ length: action.chunks }, (_, chunk) => chunkText(chunk, action.size)).join("")
      : "",
  );
  const asked = actions.flatMap((action) => (action.do === "ask" ? [String(action.question)] : []));
  const contents = [
    ["output", written.join(""), output],
    ["steps", actions.map((action) => (action.do === "step" ? `${action.name};` : "")).join(""), steps],
    ["answered questions", asked.join(), [...answers.matchAll(/(?:^|;)(\d+)=/g)].map(([, number]) => number).join()],
  ] as const;
  return contents.flatMap(([what, expected, seen]): Discrepancy[] => {
    if (expected === seen) return [];
    let place = 0;
    while (place < expected.length && expected[place] === seen[place]) place++;
    const from = Math.max(0, place - 20);
    return [
      {
        kind: "changed",
        task,
        who: "task",
        what: `its ${what} differ from the script at character ${place}`,
        expected: [expected.slice(from, from + 80)],
        seen: [seen.slice(from, from + 80)],
      },
    ];
  });
}
