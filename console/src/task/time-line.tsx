import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../data/operator-types.ts";
import type { LogOutline } from "../data/task-types.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { clock, duration, exact } from "../text/format.ts";
import { activeSpans, attemptsOf, endOf } from "./journal-times.ts";
import { wordsOf } from "./journal-words.ts";
import { type BarPiece, barsOf, rowCount } from "./lane-bars.ts";
import { PlayHead } from "./play-head.tsx";
import type { SeqTimes } from "./seq-times.ts";
import { positionOf, type ScalePiece, ticksOf, timeScale } from "./time-scale.ts";
import { WrittenBars } from "./written-bars.tsx";

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
  readonly log: LogOutline;
  readonly times: SeqTimes;
  /** When the task was created. */
  readonly start: number;
  /** The end of entries that go on. */
  readonly now: number;
  /** The event as of which the task is shown; `undefined`: the present. */
  readonly at: number | undefined;
  /** Another moment was chosen; `undefined`: the present. `isFinal` is false while one drags. */
  readonly onMoment: (seq: number | undefined, isFinal: boolean) => void;
}

/** A picture of what the task did, and when. Times in which nothing happened are folded. The view “Journal” has the same as text. */
export function TimeLine({ journal, log, times, start, now, at, onMoment }: TimeLineProps): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const attempts = useMemo(() => attemptsOf(journal, now), [journal, now]);
  const pieces = useMemo(() => {
    const spans = activeSpans(journal, attempts, now);
    const ends = [start, now].map((time) => ({ start: time, end: time }));
    return timeScale([...spans, ...ends], open);
  }, [journal, attempts, now, open, start]);
  const lanes = LANES.filter(({ kind }) => journal.some((entry) => entry.kind === kind));
  const toggle = (fold: number): void =>
    setOpen(open.has(fold) ? new Set([...open].filter((each) => each !== fold)) : new Set([...open, fold]));
  const head = at === undefined ? 1 : positionOf(pieces, times.timeOf(at));
  return (
    <figure class="time-line" aria-label="Time line. The view “Journal” has the same as a table.">
      <Axis pieces={pieces} onFold={toggle} />
      <div class="lanes">
        {lanes.map(({ kind, name, icon }) => {
          const bars = barsOf(kind, { journal, pieces, end: (entry) => endOf(entry, attempts, now) });
          return (
            <LaneRow key={kind} name={name} icon={icon} rows={rowCount(bars)}>
              {bars.map((bar) => (
                <Bar key={`${bar.entry.turn} ${bar.entry.key}`} bar={bar} />
              ))}
            </LaneRow>
          );
        })}
        {log.written.length > 0 && (
          <LaneRow name="Written" icon="file">
            <WrittenBars written={log.written} times={times} pieces={pieces} />
          </LaneRow>
        )}
        <div class="over" aria-hidden="true">
          {ticksOf(pieces).map(({ position }) => (
            <i key={position} class="tick" style={{ insetInlineStart: percent(position) }} />
          ))}
          {pieces
            .filter(({ isFold }) => isFold)
            .map(({ from, to }) => (
              <i key={from} class="fold" style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }} />
            ))}
          {attempts
            .filter(({ isCrashed }) => isCrashed)
            .map(({ end, entry }) => (
              <i
                key={`${entry.turn} ${entry.key}`}
                class="crash-line"
                style={{ insetInlineStart: percent(positionOf(pieces, end)) }}
              >
                <Icon name="bolt" />
              </i>
            ))}
          {at !== undefined && <i class="future" style={{ insetInlineStart: percent(head) }} />}
        </div>
      </div>
      <PlayHead
        pieces={pieces}
        times={times}
        range={[log.firstSeq, log.lastSeq]}
        at={at}
        isLive={!log.ended}
        onMoment={onMoment}
      />
    </figure>
  );
}

interface LaneRowProps {
  readonly name: string;
  readonly icon: IconName;
  /** Rows of bars below each other. */
  readonly rows?: number;
  readonly children: JSX.Element | readonly JSX.Element[];
}

function LaneRow({ name, icon, rows = 1, children }: LaneRowProps): JSX.Element {
  return (
    <div class="lane" style={{ "--rows": rows }}>
      <span class="lane-name">
        <Icon name={icon} />
        <span>{name}</span>
      </span>
      <div class="track">{children}</div>
    </div>
  );
}

/** Times, and how long each fold is. A fold can be opened. */
function Axis({
  pieces,
  onFold,
}: {
  readonly pieces: readonly ScalePiece[];
  readonly onFold: (start: number) => void;
}): JSX.Element {
  const folds = pieces.filter(({ isFold }) => isFold);
  const isHidden = (position: number): boolean =>
    folds.some(({ from, to }) => position > from - 0.07 && position < to) || position > 0.94;
  return (
    <div class="axis">
      {ticksOf(pieces)
        .filter(({ position }) => !isHidden(position))
        .map(({ at, position }) => (
          <span key={position} style={{ insetInlineStart: percent(position) }} title={exact(at)}>
            {axisTime(at, pieces)}
          </span>
        ))}
      {folds.map(({ from, to, start, end }) => (
        <button
          key={from}
          type="button"
          class={foldClass(to)}
          style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }}
          title={`Nothing happened for ${duration(end - start)}. Show it to scale`}
          onClick={() => onFold(start)}
        >
          {duration(end - start)}
        </button>
      ))}
    </div>
  );
}

function Bar({ bar }: { readonly bar: BarPiece }): JSX.Element {
  const { entry, from, to, end, count, row } = bar;
  const { count: _count, ...single } = entry;
  const words = count === 1 ? wordsOf(single) : `${wordsOf(single)} × ${count}`;
  const outcome = entry.outcome === undefined || count > 1 ? "" : `, ${entry.outcome}`;
  return (
    <span
      class={`bar-piece ${entry.kind} ${entry.outcome ?? "open"}`}
      style={{ insetInlineStart: percent(from), inlineSize: `max(3px, ${percent(to - from)})`, "--row": row }}
      title={`${words}: ${clock(entry.start)}, ${duration(end - entry.start)}${outcome}`}
    >
      {to - from > 0.05 && words}
    </span>
  );
}

/** With tenths of a second if the picture shows only a few seconds, with milliseconds if it shows less than one. */
export function axisTime(at: number, pieces: readonly ScalePiece[]): string {
  const shown = pieces.reduce((sum, { start, end, isFold }) => sum + (isFold ? 0 : end - start), 0);
  if (shown >= 8000) return clock(at);
  const digits = String(Math.floor(at % 1000)).padStart(3, "0");
  return `${clock(at)}.${digits.slice(0, shown < 800 ? 3 : 1)}`;
}

/** The words of a fold at the end of the picture end there, too. */
export function foldClass(to: number): string {
  return to > 0.99 ? "fold last" : "fold";
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
