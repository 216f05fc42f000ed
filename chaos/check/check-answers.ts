import type { Entry } from "../journal.ts";
import type { Drain } from "../supervisor.ts";
import type { TaskTruth } from "../truth.ts";
import type { Discrepancy } from "./discrepancy.ts";

type Answered = Extract<Entry, { kind: "answered" }>;

/** What the answers are checked against. */
interface AnswersEvidence {
  readonly tasks: ReadonlyMap<string, TaskTruth>;
  readonly drains: readonly Drain[];
}

const ENDS: readonly string[] = ["completed", "failed", "canceled", "rejected"];

/**
 * Checks that a send that waited for the effect of an answer returned with a later question or the end, unless the
 * server received SIGTERM meanwhile. The task may be working again if the later question was answered before the send
 * returned.
 */
export function checkAnswers(entries: readonly Entry[], { tasks, drains }: AnswersEvidence): Discrepancy[] {
  const found: Discrepancy[] = [];
  for (const entry of entries) {
    if (entry.kind !== "answered") continue;
    const { task, question, state, text, begun, at } = entry;
    const next = Number(/^question (\d+)$/.exec(text)?.[1]);
    if (ENDS.includes(state) || (state === "input-required" && next > question)) continue;
    if (state === "working" && answeredMeanwhile(entries, entry, tasks.get(task))) continue;
    if (drains.some((drain) => drain.begun <= at && drain.over >= begun)) continue;
    const what = `returned with ${state} ${JSON.stringify(text)} instead of a later question or the end`;
    found.push({ kind: "ended-wrong", task, who: `answer to question ${question}`, what });
  }
  return found;
}

/** The agent records the message that answered each question: `2=TEXT;`. It may be a message that was not meant as an answer. */
function answeredMeanwhile(
  entries: readonly Entry[],
  { question, at }: Answered,
  truth: TaskTruth | undefined,
): boolean {
  const answers = truth?.artifacts["answers"]?.split(";") ?? [];
  const prefix = `${question + 1}=`;
  const answer = answers.find((each) => each.startsWith(prefix))?.slice(prefix.length);
  return entries.some((entry) => entry.kind === "saying" && entry.text === answer && entry.at <= at);
}
