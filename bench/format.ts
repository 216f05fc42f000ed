import type { Summary } from "./statistics.ts";

/** `12,345/s` */
export function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString("en")}/s`;
}

/** Three significant digits. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function milliseconds(ms: number): string {
  return `${plain(ms)} ms`;
}

export function seconds(value: number): string {
  return `${value < 1 ? value.toFixed(3) : plain(value)} s`;
}

export function times(factor: number): string {
  return `${plain(factor)}×`;
}

export function megabytes(bytes: number): string {
  return `${plain(bytes / 1024 / 1024)} MB`;
}

export function kilobytes(bytes: number): string {
  return `${plain(bytes / 1024)} KB`;
}

/** Smallest to largest, if there was more than one run. */
export function spread(summary: Summary, write: (value: number) => string): { readonly spread?: string } {
  return summary.runs > 1 ? { spread: `${write(summary.min)} – ${write(summary.max)}` } : {};
}
