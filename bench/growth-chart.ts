import { escaped } from "./svg-text.ts";

/** One curve: how the cost of one kind of operation changes with the size. */
export interface Curve {
  readonly name: string;
  readonly points: readonly ChartPoint[];
}

export interface ChartPoint {
  readonly size: number;
  readonly cost: number;
}

/** One diagram with its axes. */
export interface Chart {
  readonly title: string;
  /** What is counted on the horizontal axis, which is logarithmic. */
  readonly sizes: string;
  /** The unit of the vertical axis, which is logarithmic, too. */
  readonly unit: string;
  readonly curves: readonly Curve[];
}

const WIDTH = 520;
const HEIGHT = 300;
const PLOT = { left: 64, top: 40, right: 464, bottom: 224 } as const;
/** Different on white and on black pages, and for people who do not see all colours; the marks differ too. */
const COLOURS = ["#0b7fc4", "#c8580a", "#178a5b", "#b5459a", "#8a7500"] as const;
const STYLE = `text{font:12px system-ui,sans-serif;fill:#555}.title{font-weight:600;font-size:14px}.grid{stroke:#8885}.axis{stroke:#888}
@media(prefers-color-scheme:dark){text{fill:#bbb}}`;

/** All charts below each other in one SVG image, readable on light and on dark pages. */
export function drawCharts(charts: readonly Chart[]): string {
  const height = HEIGHT * charts.length;
  // An operation has the same colour in all charts.
  const names = [...new Set(charts.flatMap(({ curves }) => curves.map(({ name }) => name)))];
  const drawn = charts.map(
    (chart, index) => `<g transform="translate(0 ${index * HEIGHT})">${drawChart(chart, names)}</g>`,
  );
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const label = charts.map(({ title }) => title).join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(label)}">\n<style>${STYLE}</style>\n${drawn.join("\n")}\n</svg>\n`;
}

function drawChart({ title, sizes, unit, curves }: Chart, names: readonly string[]): string {
  const points = curves.flatMap((curve) => curve.points);
  const [least, most] = [Math.min(...points.map(({ size }) => size)), Math.max(...points.map(({ size }) => size))];
  const costs = points.map(({ cost }) => Math.log10(cost));
  const [bottom, top] = [Math.floor(Math.min(...costs)), Math.floor(Math.max(...costs)) + 1];
  const across = (size: number): number =>
    least === most
      ? (PLOT.left + PLOT.right) / 2
      : PLOT.left + (Math.log(size / least) / Math.log(most / least)) * (PLOT.right - PLOT.left);
  const up = (cost: number): number =>
    PLOT.bottom - ((Math.log10(cost) - bottom) / (top - bottom)) * (PLOT.bottom - PLOT.top);
  const ticks = Array.from({ length: top - bottom + 1 }, (_, index) => 10 ** (bottom + index));
  const marked = [...new Set(points.map(({ size }) => size))].sort((a, b) => a - b);
  return [
    text(title, { x: 16, y: 20, class: "title" }),
    ...ticks.flatMap((cost) => [
      line({ x1: PLOT.left, y1: up(cost), x2: PLOT.right, y2: up(cost), class: cost === ticks[0] ? "axis" : "grid" }),
      text(inShort(cost), { x: PLOT.left - 6, y: up(cost) + 4, anchor: "end" }),
    ]),
    ...marked.flatMap((size) => [
      line({ x1: across(size), y1: PLOT.bottom, x2: across(size), y2: PLOT.bottom + 4, class: "axis" }),
      text(size.toLocaleString("en"), { x: across(size), y: PLOT.bottom + 18, anchor: "middle" }),
    ]),
    text(unit, { x: PLOT.left, y: PLOT.top - 6 }),
    text(sizes, { x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 36, anchor: "middle" }),
    ...curves.map((curve, place) => drawCurve(curve, { place, index: names.indexOf(curve.name), across, up })),
  ].join("\n");
}

interface CurvePlace {
  /** The place in the legend. */
  readonly place: number;
  /** Chooses colour and marks. */
  readonly index: number;
  across(size: number): number;
  up(cost: number): number;
}

/** The line with its marks, and its entry in the legend. */
function drawCurve({ name, points }: Curve, { place, index, across, up }: CurvePlace): string {
  const colour = COLOURS[index % COLOURS.length] ?? COLOURS[0];
  const places = points.map(({ size, cost }) => [across(size), up(cost)] as const);
  const path = places.map(([x, y]) => `${fixed(x)},${fixed(y)}`).join(" ");
  const legend = 20 + place * 120;
  return [
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...places.map(([x, y]) => mark(index, { x, y, colour })),
    mark(index, { x: legend, y: HEIGHT - 16, colour }),
    text(name, { x: legend + 9, y: HEIGHT - 12 }),
  ].join("\n");
}

function mark(index: number, { x, y, colour }: { x: number; y: number; colour: string }): string {
  const at = (dx: number, dy: number): string => `${fixed(x + dx)},${fixed(y + dy)}`;
  if (index % 3 === 0) return `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4" fill="${colour}"/>`;
  const corners = index % 3 === 1 ? [at(-4, -4), at(4, -4), at(4, 4), at(-4, 4)] : [at(0, -5), at(5, 4), at(-5, 4)];
  return `<polygon points="${corners.join(" ")}" fill="${colour}"/>`;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "middle" | "end";
  readonly class?: string;
}

function text(content: string, { x, y, anchor, class: name }: TextPlace): string {
  const more = `${anchor === undefined ? "" : ` text-anchor="${anchor}"`}${name === undefined ? "" : ` class="${name}"`}`;
  return `<text x="${fixed(x)}" y="${fixed(y)}"${more}>${escaped(content)}</text>`;
}

function line({
  x1,
  y1,
  x2,
  y2,
  class: name,
}: {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  class: string;
}): string {
  return `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" class="${name}"/>`;
}

function inShort(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
