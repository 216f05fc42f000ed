/** What `palaver trace --json` prints, as far as the picture needs it. */
export interface PrintedTrace {
  readonly agent: string;
  readonly state: string;
  readonly rows: readonly {
    readonly kind: string;
    readonly label: string;
    readonly outcome: string;
    /** ISO 8601. */
    readonly start: string;
    readonly end: string | null;
  }[];
}

const WIDTH = 960;
const LEFT = 320;
const RIGHT = 140;
const ROW = 30;
const TOP = 52;
const COLORS: Readonly<Record<string, string>> = {
  attempt: "#3b6fb6",
  step: "#5a9e6f",
  question: "#d9a441",
  wait: "#d9a441",
  delivery: "#8a6fb3",
  child: "#4f9aa8",
};
const FAILED = "#c0504d";
/** What happens inside an attempt. */
const INNER: ReadonlySet<string> = new Set(["step", "question", "wait"]);

/** Draws a trace whose task has ended: one line for each attempt, step, question and webhook, from left to right in time. */
export function traceSvg({ agent, state, rows }: PrintedTrace): string {
  const spans = rows.map(({ start, end, ...row }) => ({
    ...row,
    from: Date.parse(start),
    to: Date.parse(end ?? start),
  }));
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  const x = (time: number): number => Math.round(LEFT + ((time - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
  const height = TOP + rows.length * ROW + 16;
  const title = `A task of ${agent}: ${state}`;
  const grid = Array.from({ length: Math.floor((to - from) / 1000) + 1 }, (_, second) => {
    const at = x(from + second * 1000);
    return [
      `<line x1="${at}" y1="${TOP - 8}" x2="${at}" y2="${height - 12}" stroke="#e3e6ea"/>`,
      `<text x="${at}" y="${TOP - 14}" text-anchor="middle" fill="#6b7280" font-size="12">${second} s</text>`,
    ];
  }).flat();
  const lines = spans.flatMap((span, index) => {
    const y = TOP + index * ROW;
    const width = Math.max(2, x(span.to) - x(span.from));
    const failed = span.outcome === "crashed" || span.outcome === "failed";
    return [
      `<text x="${INNER.has(span.kind) ? 32 : 16}" y="${y + 16}">${escaped(span.label)}</text>`,
      `<rect x="${x(span.from)}" y="${y + 3}" width="${width}" height="16" rx="3" fill="${failed ? FAILED : COLORS[span.kind]}"/>`,
      `<text x="${x(span.to) + 6}" y="${y + 16}" fill="#6b7280" font-size="12">${escaped(span.outcome)}, ${span.to - span.from} ms</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}" font-family="sans-serif" font-size="14" fill="#1f2937">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" font-weight="bold">${escaped(title)}</text>`,
    ...[...grid, ...lines],
    "</svg>\n",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
