import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { JournalEntry } from "../data/operator-types.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { clock, duration } from "../text/format.ts";
import { wordsOf } from "./journal-words.ts";
import { positionOf, type ScalePiece, timeScale } from "./time-scale.ts";

interface Lane {
  readonly kind: JournalEntry["kind"];
  readonly name: string;
  readonly icon: IconName;
}

const LANES: readonly Lane[] = [
  { kind: "attempt", name: "Runs", icon: "again" },
  { kind: "step", name: "Steps", icon: "step" },
  { kind: "child", name: "Agents called", icon: "child" },
  { kind: "question", name: "Questions", icon: "question" },
  { kind: "wait", name: "Waits", icon: "wait" },
  { kind: "delivery", name: "Webhooks", icon: "webhooks" },
];

export interface TimeLineProps {
  readonly journal: readonly JournalEntry[];
  /** The end of entries that go on. */
  readonly now: number;
}

/** The end of an attempt without an end is the start of the next one: its process died. */
export function endOf(entry: JournalEntry, journal: readonly JournalEntry[], now: number): number {
  if (entry.end !== undefined) return entry.end;
  if (entry.kind !== "attempt") return now;
  return journal.find((each) => each.kind === "attempt" && each.start > entry.start)?.start ?? now;
}

/** A picture of what the task did, and when. Times in which nothing happened are folded. The table below has the same as text. */
export function TimeLine({ journal, now }: TimeLineProps): JSX.Element | null {
  const pieces = useMemo(() => timeScale(activeSpans(journal, now)), [journal, now]);
  const lanes = LANES.filter(({ kind }) => journal.some((entry) => entry.kind === kind));
  if (pieces.length === 0) return null;
  return (
    <figure class="time-line" aria-label="Time line. The view “Journal” has the same as a table.">
      <Axis pieces={pieces} />
      {lanes.map(({ kind, name, icon }) => (
        <div key={kind} class="lane">
          <span class="lane-name">
            <Icon name={icon} />
            <span>{name}</span>
          </span>
          <div class="track">
            <Folds pieces={pieces} />
            {barsOf(kind, { journal, pieces, now }).map((bar) => (
              <Bar key={`${bar.entry.turn} ${bar.entry.key}`} bar={bar} />
            ))}
          </div>
        </div>
      ))}
    </figure>
  );
}

/** Questions and waits are not work: only their ends are active. */
function activeSpans(
  journal: readonly JournalEntry[],
  now: number,
): readonly { readonly start: number; readonly end: number }[] {
  return journal.flatMap((entry) => {
    const end = endOf(entry, journal, now);
    if (entry.kind !== "question" && entry.kind !== "wait")
      return isParked(entry) ? [{ start: entry.start, end: entry.start }] : [{ start: entry.start, end }];
    return [
      { start: entry.start, end: entry.start },
      { start: end, end },
    ];
  });
}

/** A run that ended because it waited. */
function isParked({ kind, outcome }: JournalEntry): boolean {
  return kind === "attempt" && outcome === "parked";
}

function Axis({ pieces }: { readonly pieces: readonly ScalePiece[] }): JSX.Element {
  return (
    <div class="axis" aria-hidden="true">
      {pieces.map((piece) => (
        <span
          key={piece.from}
          class={piece.isFold ? "fold" : ""}
          style={{ insetInlineStart: percent(piece.from), inlineSize: percent(piece.to - piece.from) }}
        >
          {piece.isFold ? duration(piece.end - piece.start) : clock(piece.start)}
        </span>
      ))}
    </div>
  );
}

function Folds({ pieces }: { readonly pieces: readonly ScalePiece[] }): JSX.Element {
  return (
    <>
      {pieces
        .filter(({ isFold }) => isFold)
        .map(({ from, to }) => (
          <i key={from} class="fold" style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }} />
        ))}
    </>
  );
}

/** A bar: one entry, or several neighbours that are too narrow to be shown one by one. */
interface BarPiece {
  readonly entry: JournalEntry;
  readonly from: number;
  readonly to: number;
  readonly end: number;
  readonly count: number;
}

/** Bars narrower than this share of the picture merge with their neighbours. */
const NARROW = 0.006;

interface Picture {
  readonly journal: readonly JournalEntry[];
  readonly pieces: readonly ScalePiece[];
  readonly now: number;
}

function barsOf(kind: JournalEntry["kind"], { journal, pieces, now }: Picture): readonly BarPiece[] {
  const bars: BarPiece[] = [];
  for (const entry of journal) {
    if (entry.kind !== kind) continue;
    const end = endOf(entry, journal, now);
    const [from, to] = [positionOf(pieces, entry.start), positionOf(pieces, end)];
    const last = bars.at(-1);
    const isNarrow = to - from < NARROW && last !== undefined && from - last.to < NARROW / 2;
    if (isNarrow && (last.count > 1 || last.to - last.from < NARROW))
      bars[bars.length - 1] = { ...last, to: Math.max(last.to, to), end, count: last.count + 1 };
    else bars.push({ entry, from, to, end, count: 1 });
  }
  return bars;
}

function Bar({ bar }: { readonly bar: BarPiece }): JSX.Element {
  const { entry, from, to, end, count } = bar;
  const words = count === 1 ? wordsOf(entry) : `${wordsOf(entry)} × ${count}`;
  const outcome = entry.outcome === undefined || count > 1 ? "" : `, ${entry.outcome}`;
  return (
    <span
      class={`bar-piece ${entry.kind} ${entry.outcome ?? "open"}`}
      style={{ insetInlineStart: percent(from), inlineSize: `max(3px, ${percent(to - from)})` }}
      title={`${words}: ${clock(entry.start)}, ${duration(end - entry.start)}${outcome}`}
    >
      {to - from > 0.06 && words}
    </span>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
