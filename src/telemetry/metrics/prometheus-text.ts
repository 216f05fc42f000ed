import type { Family } from "./registry.ts";

/** The media type of {@link prometheusText}. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics in the text format of Prometheus, version 0.0.4. Metrics without values are left out. */
export function prometheusText(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const family of families) writeFamily(lines, family);
  return `${lines.join("\n")}\n`;
}

function writeFamily(lines: string[], family: Family): void {
  const { name, help } = family.spec;
  const values = family.type === "histogram" ? family.distributions : family.samples;
  if (values.length === 0) return;
  lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${family.type}`);
  if (family.type !== "histogram") {
    for (const { labels, value } of family.samples) lines.push(`${name}${labelText(labels)} ${numberText(value)}`);
    return;
  }
  for (const { labels, counts, sum } of family.distributions) {
    for (const [index, count] of counts.entries()) {
      const le = family.limits[index] ?? Number.POSITIVE_INFINITY;
      lines.push(`${name}_bucket${labelText({ ...labels, le: numberText(le) })} ${count}`);
    }
    lines.push(`${name}_sum${labelText(labels)} ${numberText(sum)}`);
    lines.push(`${name}_count${labelText(labels)} ${counts.at(-1) ?? 0}`);
  }
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(help: string): string {
  return help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
