import type { Entry } from "../journal.ts";
import type { TaskTruth } from "../truth.ts";
import type { Discrepancy } from "./discrepancy.ts";

/**
 * Checks that every acknowledged message was read exactly once; in a canceled or failed task at most once. A refused
 * message is never read.
 */
export function checkMessages(truth: TaskTruth, entries: readonly Entry[]): Discrepancy[] {
  const { name: task, state, artifacts } = truth;
  const reads = countsOf(readsIn(artifacts));
  const found: Discrepancy[] = [];
  const add = (kind: Discrepancy["kind"], text: string, what: string): void => {
    found.push({ kind, task, who: `message ${text}`, what, seen: [JSON.stringify(readsIn(artifacts))] });
  };
  for (const entry of entries) {
    if (entry.kind !== "said" && entry.kind !== "refused") continue;
    const count = reads.get(entry.text) ?? 0;
    reads.delete(entry.text);
    if (entry.kind === "refused") {
      if (count > 0) add("changed", entry.text, `was refused (${entry.why}) but read`);
    } else if (count > 1) add("repeated", entry.text, `was read ${count} times`);
    else if (count === 0 && state === "completed") add("lost", entry.text, "was acknowledged but never read");
  }
  for (const [text, count] of reads) if (count > 1) add("repeated", text, `was read ${count} times`);
  return found;
}

/** Checks that every message id is in the history once. */
export function checkHistory({ name: task, messages }: TaskTruth): Discrepancy[] {
  const twice = [...countsOf(messages)].filter(([, count]) => count > 1);
  return twice.map(([id, count]) => ({
    kind: "repeated",
    task,
    who: `message ${id}`,
    what: `is in the history ${count} times`,
  }));
}

/** The texts of all messages that the agent reports as read. Answers are stored as `1=text`. */
function readsIn({ answers = "", inbox = "", late = "" }: Readonly<Record<string, string>>): string[] {
  const texts = `${answers}${inbox}${late}`.split(";").filter((text) => text !== "");
  return texts.map((text) => text.replace(/^\d+=/, ""));
}

export function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
