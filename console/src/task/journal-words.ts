import type { JournalEntry } from "../data/operator-types.ts";

const KINDS: Readonly<Record<JournalEntry["kind"], string>> = {
  attempt: "Attempt",
  step: "Step",
  question: "Question",
  wait: "Sleep",
  delivery: "Webhook",
  child: "Task",
};

/** What an entry of the journal is called. Keys of steps and waits end with their number of occurrence. */
export function wordsOf({ kind, key, call, count }: JournalEntry): string {
  const times = count !== undefined && count > 1 && kind !== "delivery" ? ` × ${count}` : "";
  if (kind === "attempt") return `Attempt ${key}`;
  if (call !== undefined) return `${call.kind} ${call.name}${times}`;
  const name = key
    .replace(/#\d+$/, "")
    .replace(/^(?:step|ask|sleep|auth|call):/, "")
    .replace(/:$/, "");
  return `${name === "" ? KINDS[kind] : name}${times}`;
}
