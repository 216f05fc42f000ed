import { oneLine } from "../../internal/terminal-text.ts";
import type { TaskTrace, TraceRow } from "../../platform/tracing/task-trace.ts";

const LABEL = 34;
const OUTCOME = 10;
const DURATION = 9;
const SMALLEST_BAR = 12;

/** A task as lines of text: one line for each attempt, step, question, wait, delivery and child, with its place in time. */
export function waterfall({ taskId, agent, state, traceId, rows }: TaskTrace, width: number, now: number): string {
  const head = `Task ${taskId} of ${agent}: ${state}\nTrace ${traceId}\n`;
  const [first] = rows;
  if (first === undefined) return `${head}Nothing has run yet.\n`;
  const from = Math.min(...rows.map(({ start }) => start));
  const to = Math.max(...rows.map(({ start, end = now }) => Math.max(start, end)));
  const bar = Math.max(SMALLEST_BAR, width - LABEL - OUTCOME - DURATION - 3);
  const scale = { from, length: Math.max(1, to - from), bar, now };
  const title = `${"".padEnd(LABEL)} ${"".padEnd(OUTCOME)} ${"".padEnd(DURATION)}`;
  const end = duration(to - from);
  return `${head}\n${title}0${end.padStart(bar - 1)}\n${rows.map((row) => line(row, scale)).join("")}`;
}

interface Scale {
  readonly from: number;
  readonly length: number;
  readonly bar: number;
  readonly now: number;
}

function line({ kind, label, start, end, outcome, depth }: TraceRow, { from, length, bar, now }: Scale): string {
  const name = fitted(`${"  ".repeat(depth)}${oneLine(label)}`, LABEL);
  const took = end === undefined ? "" : duration(end - start);
  const begin = Math.min(bar - 1, Math.floor(((start - from) / length) * bar));
  const cells = Math.min(bar - begin, Math.max(1, Math.round((((end ?? now) - start) / length) * bar)));
  const fill = (kind === "question" || kind === "wait" ? "░" : kind === "delivery" ? "▒" : "█").repeat(cells);
  return `${name} ${fitted(outcome, OUTCOME)} ${took.padStart(DURATION - 1)} ${" ".repeat(begin)}${fill}\n`;
}

function fitted(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, width - 1)}…`;
}

function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
