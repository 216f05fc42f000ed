import type { JSX } from "preact";

export interface LineChartProps {
  readonly name: string;
  readonly unit: string;
  /** Oldest first. */
  readonly values: readonly number[];
}

const POINTS = 60;

/** One figure over the last two minutes. */
export function LineChart({ name, unit, values }: LineChartProps): JSX.Element {
  const last = values.at(-1);
  const most = ceiling(Math.max(...values, 0));
  const x = (index: number): number => ((POINTS - values.length + index) / (POINTS - 1)) * 240;
  const y = (value: number): number => 46 - (value / most) * 44;
  const line = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return (
    <figure class="chart">
      <figcaption>
        <small>{name}</small>
        <span>
          <strong>{last === undefined ? "–" : short(last)}</strong> <small>{unit}</small>
        </span>
      </figcaption>
      <svg
        viewBox="0 0 240 48"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${last === undefined ? "no value yet" : short(last)} ${unit}, highest ${short(Math.max(...values, 0))}`}
      >
        {values.length > 1 && (
          <>
            <polygon points={`${x(0)},48 ${line} 240,48`} />
            <polyline points={line} />
          </>
        )}
      </svg>
      <small class="most">{short(most)}</small>
    </figure>
  );
}

function short(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** The next of 1, 2, 5, 10, 20, … */
function ceiling(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
