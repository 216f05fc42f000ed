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

/** Time at work is drawn to scale; a long time in which nothing happened is folded to a narrow band. */
export function timeScale(spans: readonly Span[]): readonly ScalePiece[] {
  const active = merged(spans);
  const [first] = active;
  if (first === undefined) return [];
  const total = active.reduce((sum, { start, end }) => sum + end - start, 0);
  const least = Math.max(SHORTEST_FOLD, total * FOLD_SHARE);
  const gaps = active.slice(1).map(({ start }, index) => ({ start: active[index]?.end ?? start, end: start }));
  const folded = gaps
    .filter(({ start, end }) => end - start > least)
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
