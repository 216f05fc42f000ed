import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { count, exact } from "../text/format.ts";
import type { SeqTimes } from "./seq-times.ts";
import { positionOf, type ScalePiece, timeAt } from "./time-scale.ts";

export interface PlayHeadProps {
  readonly pieces: readonly ScalePiece[];
  readonly times: SeqTimes;
  /** The first and the last event. */
  readonly range: readonly [number, number];
  readonly at: number | undefined;
  readonly isLive: boolean;
  readonly onMoment: (seq: number | undefined, isFinal: boolean) => void;
}

/** Chooses a moment of the task, by dragging or by keys. At its right end is the present. */
export function PlayHead({ pieces, times, range, at, isLive, onMoment }: PlayHeadProps): JSX.Element {
  const [first, last] = range;
  const track = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<number>();
  const seq = dragged ?? at ?? last;
  const isPast = seq < last;
  const position = isPast ? positionOf(pieces, times.timeOf(seq)) : 1;
  const seqUnder = (event: PointerEvent): number => {
    const box = track.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return last;
    const share = (event.clientX - box.left) / box.width;
    if (share >= 0.995) return last;
    return Math.min(last, Math.max(first, times.seqAt(timeAt(pieces, Math.max(0, share)))));
  };
  const choose = (next: number, isFinal: boolean): void =>
    onMoment(next >= last ? undefined : Math.max(first, next), isFinal);
  const onKey = (event: KeyboardEvent): void => {
    const large = Math.max(1, Math.round((last - first) / 20));
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: seq - 1,
      ArrowDown: seq - 1,
      ArrowRight: seq + 1,
      ArrowUp: seq + 1,
      PageDown: seq - large,
      PageUp: seq + large,
      Home: first,
      End: last,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next, true);
  };
  const text = isPast ? `event ${count(seq)}, ${exact(times.timeOf(seq))}` : `event ${count(last)}, now`;
  return (
    <div class="head-row">
      <div
        ref={track}
        class={isPast ? "head-track past-moment" : "head-track"}
        role="slider"
        tabIndex={0}
        aria-label="Moment"
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={seq}
        aria-valuetext={text}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDragged(seqUnder(event));
          choose(seqUnder(event), false);
        }}
        onPointerMove={(event) => {
          if (dragged === undefined) return;
          setDragged(seqUnder(event));
          choose(seqUnder(event), false);
        }}
        onPointerUp={(event) => {
          if (dragged === undefined) return;
          setDragged(undefined);
          choose(seqUnder(event), true);
        }}
        onPointerCancel={() => setDragged(undefined)}
      >
        <i class="done" style={{ inlineSize: `${position * 100}%` }} />
        {isLive && isPast && <i class="live-dot" />}
        <i class="thumb" style={{ insetInlineStart: `${position * 100}%` }} />
        <span
          class="seq-label"
          style={{ insetInlineStart: `${position * 100}%`, transform: `translateX(${-position * 100}%)` }}
        >
          seq {count(seq)}
        </span>
      </div>
    </div>
  );
}
