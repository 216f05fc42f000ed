import type { State } from "../data/operator-types.ts";
import type { TraceAnswer, TracedTask, TraceRow } from "../data/task-types.ts";
import { isEndState } from "./task-log.ts";
import type { Span } from "./time-scale.ts";

/** A stretch of time; without an end it goes on. */
interface OpenSpan {
  readonly start: number;
  readonly end?: number;
}

/** One line of the waterfall: a task, something that it did, or several equal things in a row. */
export interface TraceLine extends OpenSpan {
  readonly key: string;
  readonly kind: TraceRow["kind"] | "task";
  readonly label: string;
  readonly depth: number;
  readonly outcome: string;
  /** Of a task. */
  readonly state?: State;
  readonly agent: string;
  readonly taskKey: string;
  /** What is drawn: one bar each. */
  readonly spans: readonly OpenSpan[];
  readonly span?: TraceRow["span"];
}

/** The lines of a trace: each task, below it what it did, and the tasks that it called where they began. */
export function linesOf({ tasks }: TraceAnswer): readonly TraceLine[] {
  const [root] = tasks;
  if (root === undefined) return [];
  const children = Map.groupBy(tasks.slice(1), ({ parent }) =>
    tasks.some(({ key }) => key === parent) ? parent : root.key,
  );
  return taskLines(root, 0, { children, shown: new Set(tasks.map(({ id }) => id)) });
}

interface Tree {
  readonly children: ReadonlyMap<string | undefined, readonly TracedTask[]>;
  /** The ids of the tasks that have lines of their own. */
  readonly shown: ReadonlySet<string>;
}

function taskLines(task: TracedTask, depth: number, tree: Tree): readonly TraceLine[] {
  const { key: taskKey, agent, state, createdAt: start, statusAt } = task;
  const attempts = task.rows.filter(({ kind }) => kind === "attempt");
  const isEnded = isEndState(state);
  const own: TraceLine = {
    ...{ key: taskKey, kind: "task", label: agent, depth, outcome: state, state, agent, taskKey, start },
    ...(isEnded && { end: statusAt }),
    spans: attempts.length === 0 ? [{ start, ...(isEnded && { end: statusAt }) }] : attempts.map(spanOf),
  };
  const below = tree.children.get(taskKey) ?? [];
  // The lines of called tasks replace the lines about calling them.
  const rows = task.rows.filter(({ taskId }) => taskId === undefined || !tree.shown.has(taskId));
  const parts = [
    ...joined(rows).map((line) => ({ start: line.start, lines: [lineOf(line, task, depth + 1)] })),
    ...below.map((child) => ({ start: child.createdAt, lines: taskLines(child, depth + 2, tree) })),
  ];
  // Attempts come before what they do at the same time; the server has ordered their lines.
  return [own, ...parts.toSorted((a, b) => a.start - b.start).flatMap(({ lines }) => lines)];
}

interface JoinedRow extends TraceRow {
  readonly spans: readonly OpenSpan[];
  readonly times: number;
}

function spanOf({ start, end }: OpenSpan): OpenSpan {
  return { start, ...(end !== undefined && { end }) };
}

/** Equal neighbours become one line. */
function joined(rows: readonly TraceRow[]): readonly JoinedRow[] {
  const all: JoinedRow[] = [];
  for (const row of rows) {
    const last = all.at(-1);
    const canJoin =
      last !== undefined &&
      row.kind === "step" &&
      last.kind === "step" &&
      last.label === row.label &&
      last.outcome === row.outcome &&
      last.depth === row.depth;
    if (canJoin) {
      const end = row.end ?? last.end;
      all[all.length - 1] = {
        ...last,
        ...(end !== undefined && { end }),
        spans: [...last.spans, spanOf(row)],
        times: last.times + 1,
      };
    } else all.push({ ...row, spans: [spanOf(row)], times: 1 });
  }
  return all;
}

function lineOf(row: JoinedRow, { key, agent }: TracedTask, depth: number): TraceLine {
  const { kind, label, start, end, outcome, spans, times, span, index } = row;
  const name = label.replace(/^step /, "");
  return {
    ...{ key: `${key} ${index}`, kind, depth: depth + row.depth, outcome, agent, taskKey: key, start, spans },
    label: times > 1 ? `${name} × ${times}` : kind === "step" ? name : name.charAt(0).toUpperCase() + name.slice(1),
    ...(end !== undefined && { end }),
    ...(span !== undefined && times === 1 && { span }),
  };
}

/** When something was done: what lies between is folded. */
export function traceSpans(lines: readonly TraceLine[], now: number): readonly Span[] {
  const waits = lines.filter(({ kind }) => kind === "question" || kind === "wait").flatMap(({ spans }) => spans);
  return lines.flatMap(({ kind, spans }) =>
    spans.flatMap(({ start, end = now }): readonly Span[] => {
      if (kind === "question" || kind === "wait")
        return [
          { start, end: start },
          { start: end, end },
        ];
      return kind === "attempt" || kind === "task" ? withoutWaits({ start, end }, waits, now) : [{ start, end }];
    }),
  );
}

function withoutWaits({ start, end }: Span, waits: readonly OpenSpan[], now: number): readonly Span[] {
  const pieces: Span[] = [];
  let at = start;
  for (const wait of waits.toSorted((a, b) => a.start - b.start)) {
    const waitEnd = wait.end ?? now;
    if (wait.start >= end || waitEnd <= at) continue;
    if (wait.start > at) pieces.push({ start: at, end: wait.start });
    at = Math.max(at, waitEnd);
  }
  if (at < end || pieces.length === 0) pieces.push({ start: Math.min(at, end), end });
  return pieces;
}
