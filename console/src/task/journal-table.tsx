import type { JSX } from "preact";
import type { JournalEntry } from "../data/operator-types.ts";
import { clock, count, duration, exact } from "../text/format.ts";
import { CalledAgent } from "./called-agent.tsx";
import { type AttemptPart, attemptsOf, endOf } from "./journal-times.ts";
import { wordsOf } from "./journal-words.ts";

const KINDS: Readonly<Record<JournalEntry["kind"], string>> = {
  attempt: "Run",
  step: "Step",
  question: "Question",
  wait: "Wait",
  delivery: "Webhook",
  child: "Agent called",
};

/** Rows that are shown. */
const MOST = 500;

/** The journal as a table: the same as the time line, for reading. */
export function JournalTable({
  journal,
  now,
}: {
  readonly journal: readonly JournalEntry[];
  readonly now: number;
}): JSX.Element {
  if (journal.length === 0) return <p class="soft">The journal is empty: the task began and ended in one commit.</p>;
  const shown = journal.slice(-MOST);
  return (
    <>
      {shown.length < journal.length && (
        <p class="soft">
          The last {MOST} of {count(journal.length)} entries.
        </p>
      )}
      <JournalRows entries={shown} attempts={attemptsOf(journal, now)} now={now} />
    </>
  );
}

interface JournalRowsProps {
  readonly entries: readonly JournalEntry[];
  readonly attempts: readonly AttemptPart[];
  readonly now: number;
}

function JournalRows({ entries, attempts, now }: JournalRowsProps): JSX.Element {
  return (
    <table class="rows journal">
      <thead>
        <tr>
          <th scope="col">Began</th>
          <th scope="col">What</th>
          <th scope="col">Name</th>
          <th scope="col">Ended</th>
          <th scope="col" class="num">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={`${entry.kind} ${entry.turn} ${entry.key}`}>
            <td class="whole" title={exact(entry.start)}>
              {clock(entry.start)}
            </td>
            <td>{KINDS[entry.kind]}</td>
            <td class="cut">{entry.called === undefined ? wordsOf(entry) : <CalledAgent called={entry.called} />}</td>
            <td class={outcomeClass(entry)} title={entry.reason}>
              {outcomeOf(entry, attempts, now)}
            </td>
            <td class="num whole">{duration(endOf(entry, attempts, now) - entry.start)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The outcome of a delivery is a sentence; the others are one word. */
function outcomeClass({ kind, outcome }: JournalEntry): string {
  if (outcome === "failed") return "bad";
  return kind === "delivery" || outcome === undefined ? "" : "whole";
}

function outcomeOf(entry: JournalEntry, attempts: readonly AttemptPart[], now: number): string {
  const { outcome, count: sent, upTo, reason } = entry;
  if (entry.kind === "delivery")
    return `${outcome ?? "open"}, ${sent ?? 0} sent${upTo === undefined ? "" : `, up to event ${upTo}`}${reason === undefined ? "" : `: ${reason}`}`;
  if (outcome !== undefined) return outcome;
  return endOf(entry, attempts, now) < now && entry.kind === "attempt" ? "its process stopped" : "goes on";
}
