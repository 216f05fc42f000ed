/** A stretch of time; milliseconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of the picture: time to scale, or a fold in which nothing happened. Positions are from 0 to 1. */
export interface ScalePiece extends Span {
  readonly from: number;
  readonly to: number;
  readonly isFold: boolean;
}

/** Gaps shorter than this are drawn to scale. */
const SHORTEST_FOLD = 10_000;
/** Gaps shorter than this share of all active time are drawn to scale. */
const FOLD_SHARE = 0.05;
/** The width of a fold. */
const FOLD_WIDTH = 0.07;
const MOST_FOLDS = 6;

/** Time at work is drawn to scale; a long time in which nothing happened is folded to a narrow band. `open`: starts of folds that one has opened. */
export function timeScale(spans: readonly Span[], open: ReadonlySet<number> = new Set()): readonly ScalePiece[] {
  const active = merged(spans);
  const [first] = active;
  if (first === undefined) return [];
  const total = active.reduce((sum, { start, end }) => sum + end - start, 0);
  const least = Math.max(SHORTEST_FOLD, total * FOLD_SHARE);
  const gaps = active.slice(1).map(({ start }, index) => ({ start: active[index]?.end ?? start, end: start }));
  const folded = gaps
    .filter(({ start, end }) => end - start > least && !open.has(start))
    .toSorted((a, b) => b.end - b.start - (a.end - a.start))
    .slice(0, MOST_FOLDS)
    .toSorted((a, b) => a.start - b.start);
  return placed({ start: first.start, end: active.at(-1)?.end ?? first.end }, folded);
}

function placed(whole: Span, folds: readonly Span[]): readonly ScalePiece[] {
  const open: (Span & { readonly isFold: boolean })[] = [];
  let at = whole.start;
  for (const fold of folds) {
    open.push({ start: at, end: fold.start, isFold: false }, { ...fold, isFold: true });
    at = fold.end;
  }
  open.push({ start: at, end: whole.end, isFold: false });
  const length = open.reduce((sum, { start, end, isFold }) => sum + (isFold ? 0 : end - start), 0);
  const room = 1 - folds.length * FOLD_WIDTH;
  let from = 0;
  return open.map((piece) => {
    const width = piece.isFold
      ? FOLD_WIDTH
      : length === 0
        ? room / (folds.length + 1)
        : (room * (piece.end - piece.start)) / length;
    const result = { ...piece, from, to: from + width };
    from += width;
    return result;
  });
}

/** Overlapping spans become one. */
function merged(spans: readonly Span[]): readonly Span[] {
  const all: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end: Math.max(start, end) });
  }
  return all;
}

/** The position of a time in the picture. */
export function positionOf(pieces: readonly ScalePiece[], time: number): number {
  const piece = pieces.find(({ end }) => time <= end) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const share = piece.end === piece.start ? 0 : (time - piece.start) / (piece.end - piece.start);
  return piece.from + Math.min(1, Math.max(0, share)) * (piece.to - piece.from);
}

/** The time at a position in the picture. */
export function timeAt(pieces: readonly ScalePiece[], position: number): number {
  const piece = pieces.find(({ to }) => position <= to) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const share = piece.to === piece.from ? 0 : (position - piece.from) / (piece.to - piece.from);
  return piece.start + Math.min(1, Math.max(0, share)) * (piece.end - piece.start);
}

/** A mark on the axis. */
export interface Tick {
  readonly at: number;
  readonly position: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Distances between two marks. */
const STEPS = [
  ...[10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 6, 12, 24, 48, 168, 720].map((hours) => hours * HOUR),
];
/** The least distance of two marks, as a share of the picture. */
const LEAST = 0.12;

/** Marks at round times. Each piece to scale begins with one if there is room. */
export function ticksOf(pieces: readonly ScalePiece[]): readonly Tick[] {
  const ticks: Tick[] = [];
  const add = (tick: Tick): void => {
    const last = ticks.at(-1);
    if (last === undefined || tick.position - last.position >= LEAST * 0.8) ticks.push(tick);
  };
  for (const { start, end, from, to, isFold } of pieces) {
    if (isFold) continue;
    add({ at: start, position: from });
    const step = STEPS.find((each) => (each / (end - start)) * (to - from) >= LEAST);
    if (step === undefined || end === start) continue;
    for (let at = Math.ceil(start / step) * step; at <= end - step * 0.3; at += step)
      add({ at, position: from + ((at - start) / (end - start)) * (to - from) });
  }
  return ticks;
}
