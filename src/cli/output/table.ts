import { oneLine } from "../../internal/terminal-text.ts";

/** Rows in columns with a line of titles. Control characters in values are escaped. */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [titles, ...rows].map((row) => row.map((value) => oneLine(cellText(value))));
  const widths = titles.map((_title, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function cellText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
