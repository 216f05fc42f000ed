import type { StoreReport } from "../../platform/database/inspect-store.ts";
import { table } from "../output/table.ts";

type Lag = StoreReport["due"];

/** The figures of a store for people. `place`: where it is. */
export function reportText(place: string, report: StoreReport): string {
  const { database, schema, newestSchema, now, tasks, parked, nodes, due, overdueWebhooks, sizes, standbys } = report;
  const states = Object.entries(tasks).filter(([, number]) => number > 0);
  const facts: (readonly [string, string])[] = [
    ["Store", place],
    ["Database", database],
    ["Schema", schemaText(schema, newestSchema)],
    ["Tasks", states.length === 0 ? "none" : states.map(([state, number]) => `${number} ${state}`).join(", ")],
    ["Parked", `${parked} (wait for a message or a time)`],
    ["Due tasks", lagText(due, now)],
    ["Overdue webhooks", lagText(overdueWebhooks, now)],
  ];
  const parts = [facts.map(([name, value]) => `${name.padEnd(18)}${value}`).join("\n")];
  if (nodes.length > 0) {
    const rows = nodes.map(({ id, leaseUntil, tasks: held }) => [id, leaseText(leaseUntil, now), String(held)]);
    parts.push(table(["NODE", "LEASE", "TASKS"], rows).trimEnd());
  }
  if (standbys !== undefined)
    parts.push(
      table(
        ["STANDBY", "STATE", "BEHIND"],
        standbys.map(({ name, state, behindBytes }) => [name, state, bytesText(behindBytes)]),
      ).trimEnd(),
    );
  if (sizes.length > 0) {
    const rows = sizes.map(({ name, bytes, rows: number }) => [name, bytesText(bytes), number ?? ""]);
    parts.push(table(["SIZE OF", "BYTES", "ROWS (ESTIMATED)"], rows).trimEnd());
  }
  return `${parts.join("\n\n")}\n`;
}

function schemaText(schema: number, newest: number): string {
  if (schema === 0) return "none: the tables are created by palaver db migrate, or when a server starts";
  if (schema < newest) return `${schema}; this release needs ${newest}: palaver db migrate`;
  return schema > newest ? `${schema}, of a later release (this one knows ${newest})` : String(schema);
}

function lagText({ count, since }: Lag, now: number): string {
  return since === undefined ? "none" : `${count}, the first for ${secondsText(now - since)}`;
}

function leaseText(until: number | undefined, now: number): string {
  if (until === undefined) return "none";
  return until > now ? `for ${secondsText(until - now)}` : `ended ${secondsText(now - until)} ago`;
}

function secondsText(milliseconds: number): string {
  return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
