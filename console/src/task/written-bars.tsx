import type { JSX } from "preact";
import type { WrittenPiece } from "../data/task-types.ts";
import { bytes } from "../text/format.ts";
import type { SeqTimes } from "./seq-times.ts";
import { positionOf, type ScalePiece } from "./time-scale.ts";

export interface WrittenBarsProps {
  readonly written: readonly WrittenPiece[];
  readonly times: SeqTimes;
  readonly pieces: readonly ScalePiece[];
}

const COLUMNS = 160;

/** How much was written, over time. Chunks have no time of their own: they are spread evenly between the states around them. */
export function WrittenBars({ written, times, pieces }: WrittenBarsProps): JSX.Element {
  const columns = new Float64Array(COLUMNS);
  let total = 0;
  for (const { first, last, characters } of written) {
    const at = positionOf(pieces, times.timeOf((first + last) / 2));
    const column = Math.min(COLUMNS - 1, Math.floor(at * COLUMNS));
    columns[column] = (columns[column] ?? 0) + characters;
    total += characters;
  }
  const most = Math.max(1, ...columns);
  const words = `${bytes(total)} written`;
  return (
    <svg class="written" role="img" aria-label={words} viewBox={`0 0 ${COLUMNS} 20`} preserveAspectRatio="none">
      <title>{words}</title>
      <path d={Array.from(columns, (value, index) => columnPath(index, value / most)).join("")} />
    </svg>
  );
}

/** A column of the picture; `share`: of the highest one. */
function columnPath(index: number, share: number): string {
  if (share === 0) return "";
  const height = (2 + 18 * Math.sqrt(share)).toFixed(2);
  return `M${index + 0.15} 20v-${height}h.7v${height}z`;
}
