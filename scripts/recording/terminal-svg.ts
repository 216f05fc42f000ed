/** A line of a terminal, and when it appeared. */
export interface RecordedLine {
  readonly text: string;
  /** Seconds since the beginning. */
  readonly at: number;
  /** Default `output`. */
  readonly kind?: "command" | "output" | "note";
}

/** One terminal of a recording. */
export interface RecordedPane {
  readonly title: string;
  /** Characters of a line; longer ones are continued on the next. */
  readonly columns: number;
  readonly lines: readonly RecordedLine[];
}

const [CHARACTER, LINE, PADDING, BAR] = [7.25, 18, 14, 30];
/** Seconds: longer pauses, such as that of a slow start, are shortened to this. */
const LONGEST_GAP = 1.1;
/** Seconds for which the last picture stays. */
const PAUSE = 4;
const COLOURS = { command: "#ffffff", output: "#c9d1d9", note: "#e3b341" };

/**
 * An animated picture of terminals side by side: each line appears when it appeared in the recording, then all begins again. Works as an image on code hosts: no script, no
 * font of its own. Readers who prefer no motion see the last picture.
 */
export function terminalSvg(recorded: readonly RecordedPane[], title: string): string {
  const panes = shortened(recorded).map((pane) => ({
    ...pane,
    lines: pane.lines.flatMap((line) => wrapped(line, pane.columns)),
  }));
  const rows = Math.max(...panes.map(({ lines }) => lines.length));
  const height = BAR + PADDING + rows * LINE + PADDING;
  const widths = panes.map(({ columns }) => Math.ceil(columns * CHARACTER + 2 * PADDING));
  const end = Math.max(...panes.flatMap(({ lines }) => lines.map(({ at }) => at)));
  const total = round(end + PAUSE);
  const lefts = widths.map((_, index) => widths.slice(0, index).reduce((sum, width) => sum + width + 10, 0));
  const width = (lefts.at(-1) ?? 0) + (widths.at(-1) ?? 0);
  const times = [...new Set(panes.flatMap(({ lines }) => lines.map(({ at }) => round(at))))].toSorted((a, b) => a - b);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">`,
    `<title id="t">${escaped(title)}</title>`,
    `<style>text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}${times
      .map((time, index) => keyframes(index, time, total))
      .join("")}@media (prefers-reduced-motion:reduce){text{animation:none!important}}</style>`,
    ...panes.map((pane, index) => paneSvg(pane, { left: lefts[index] ?? 0, width: widths[index] ?? 0, height, times })),
    "</svg>",
    "",
  ].join("\n");
}

/** Hidden until its time. The rule without an animation is the visible one. */
function keyframes(index: number, time: number, total: number): string {
  const percent = round((time / total) * 100);
  return `.t${index}{animation:k${index} ${total}s step-end infinite}@keyframes k${index}{0%{opacity:0}${percent}%{opacity:1}}`;
}

interface Placement {
  readonly left: number;
  readonly width: number;
  readonly height: number;
  readonly times: readonly number[];
}

function paneSvg({ title, lines }: RecordedPane, { left, width, height, times }: Placement): string {
  const texts = lines.map(({ text, at, kind = "output" }, row) => {
    const y = BAR + PADDING + row * LINE + 9;
    return `<text class="t${times.indexOf(round(at))}" x="${left + PADDING}" y="${y}" fill="${COLOURS[kind]}">${escaped(text)}</text>`;
  });
  const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
    (colour, index) => `<circle cx="${left + 18 + index * 18}" cy="15" r="5" fill="${colour}"/>`,
  );
  return [
    `<rect x="${left}" width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#30363d"/>`,
    ...dots,
    `<text x="${left + width / 2}" y="19" fill="#8b949e" text-anchor="middle">${escaped(title)}</text>`,
    ...texts,
  ].join("\n");
}

function shortened(panes: readonly RecordedPane[]): readonly RecordedPane[] {
  const times = panes.flatMap(({ lines }) => lines.map(({ at }) => at)).toSorted((a, b) => a - b);
  const shown = new Map<number, number>();
  let now = 0;
  for (const [index, time] of times.entries()) {
    now += Math.min(time - (times[index - 1] ?? time), LONGEST_GAP);
    shown.set(time, now);
  }
  return panes.map((pane) => ({
    ...pane,
    lines: pane.lines.map((line) => ({ ...line, at: shown.get(line.at) ?? 0 })),
  }));
}

/** The line in pieces that fit, broken between words. */
function wrapped(line: RecordedLine, columns: number): readonly RecordedLine[] {
  const pieces = line.text.match(new RegExp(`.{1,${columns}}(?=\\s|$)|.{1,${columns}}`, "g")) ?? [""];
  return pieces.map((text, index) => ({ ...line, text: index === 0 ? text : `  ${text.trim()}` }));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
