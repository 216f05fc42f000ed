import type { Outcome, Row, Scenario } from "./scenario.ts";

/** The result of one scenario: figures, or the reason why there are none. */
export interface Result {
  readonly scenario: Scenario;
  readonly outcome: Outcome | { readonly failure: string };
  readonly seconds: number;
}

const COLUMNS = ["work", "limit", "figure", "spread", "verdict"] as const;
type Cells = Record<(typeof COLUMNS)[number], string>;

/** A table for the terminal. */
export function printResult({ scenario, outcome, seconds }: Result): string {
  const title = `${scenario.title}  [${scenario.name}, ${Math.round(seconds)} s]`;
  if ("failure" in outcome) return `${title}\n  FAILED: ${outcome.failure}\n`;
  const lines = outcome.rows.map(cellsOf);
  const widths = COLUMNS.map((column) => Math.max(...lines.map((cells) => cells[column].length)));
  const table = lines.map((cells) =>
    `  ${COLUMNS.map((column, index) => pad(cells[column], widths[index] ?? 0)).join("  ")}`.trimEnd(),
  );
  const notes = outcome.notes.map((note) => `  · ${note}`);
  return `${[title, ...table, ...notes].join("\n")}\n`;
}

export function markdownResult({ scenario, outcome }: Result): string {
  const title = `## ${scenario.title}`;
  if ("failure" in outcome) return `${title}\n\nFAILED: ${outcome.failure.split("\n")[0]}\n`;
  const lines = outcome.rows
    .map(cellsOf)
    .map((cells) => `| ${COLUMNS.map((column) => cells[column].trim()).join(" | ")} |`);
  const head = "| Work | Limit | Figure | Smallest – largest | |\n|---|---|---|---|---|";
  const notes = outcome.notes.map((note) => `- ${note}`);
  return `${[title, "", head, ...lines, "", ...notes].join("\n")}\n`;
}

/** One line with the number of limits that were met and missed. */
export function summaryLine(results: readonly Result[]): string {
  const rows = results.flatMap(({ scenario, outcome }) =>
    "failure" in outcome ? [] : outcome.rows.map((row) => ({ ...row, work: `${scenario.name}: ${row.work}` })),
  );
  const judged = rows.filter(({ ok }) => ok !== undefined);
  const missed = judged.filter(({ ok }) => ok === false);
  const failed = results.filter(({ outcome }) => "failure" in outcome);
  const parts = [`${judged.length - missed.length} of ${judged.length} limits met`];
  if (missed.length > 0) parts.push(`MISSED: ${missed.map(({ work }) => work).join("; ")}`);
  if (failed.length > 0) parts.push(`FAILED: ${failed.map(({ scenario }) => scenario.name).join(", ")}`);
  return parts.join(" · ");
}

function cellsOf(row: Row): Cells {
  return {
    work: row.work,
    limit: row.limit ?? "",
    figure: row.figure,
    spread: row.spread ?? "",
    verdict: row.ok === undefined ? "" : row.ok ? "ok" : "MISSED",
  };
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - text.length));
}
