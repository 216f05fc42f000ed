import type { JournalEntry } from "../../engine/record/journal.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AttemptStart } from "../../telemetry/contract.ts";
import { ATTRIBUTE } from "../../telemetry/spans/names.ts";
import type { Attributes, SpanData, SpanEvent } from "../../telemetry/spans/span-data.ts";
import type { NewSpan } from "../../telemetry/spans/span-factory.ts";
import { derivedTraceId } from "../../telemetry/spans/span-ids.ts";
import {
  attemptSpan,
  callResultAttributes,
  deliverySpan,
  eventAttributes,
  eventName,
  stepSpan,
  waitSpan,
} from "../../telemetry/spans/task-spans.ts";
import type { TaskHistory } from "./task-history.ts";

/** One line of a time line. Times are milliseconds since 1970. */
export interface TraceRow {
  readonly kind: JournalEntry["kind"];
  readonly label: string;
  readonly start: number;
  /** `undefined`: it has not ended. */
  readonly end: number | undefined;
  readonly outcome: string;
  /** 0 for attempts and deliveries, 1 for what an attempt does. */
  readonly depth: number;
  /** Absent for children: their own trace has their spans. */
  readonly span?: SpanData;
  /** Of a child, as its agent knows it. */
  readonly taskId?: string;
}

/** What a task did, in order. Made from log and journal alone, so also for tasks that ran while nothing was traced. */
export interface TaskTrace extends Pick<TaskHistory, "taskId" | "contextId" | "agent" | "state"> {
  readonly traceId: string;
  readonly rows: readonly TraceRow[];
}

/** Makes the time line of a task, with the spans that tracing would have exported: the same ids. */
export function taskTrace(history: TaskHistory): TaskTrace {
  const { taskId, contextId, agent, state } = history;
  const trace: TraceContext = history.trace ?? { traceId: derivedTraceId(taskId), spanId: "0".repeat(16), flags: 1 };
  const attempts = attemptsOf(history).map((entry): Attempt => attemptOf(entry, { history, trace }));
  const rows = attempts.flatMap((attempt) => [
    attemptRow(attempt, eventsOf(attempt, attempts, history)),
    // The journal is in the order in which its entries were stored: a step when it ends, a question when it begins.
    ...history.journal
      .filter((entry) => belongsTo(entry, attempt))
      .toSorted((one, other) => one.start - other.start)
      .map((entry) => innerRow(entry, attempt)),
  ]);
  const deliveries = history.journal.filter(({ kind }) => kind === "delivery");
  const known = new Set(history.journal.map(({ called }) => called?.taskId));
  // Tasks that the agent's code has created with a client are not in the journal.
  const others = history.children.filter(({ taskId: id }) => !known.has(id));
  const children = others.map(
    (child): TraceRow => ({
      kind: "child",
      label: childLabel(child),
      start: child.createdAt,
      end: isTerminal(child.state) ? child.statusAt : undefined,
      outcome: child.state,
      depth: 0,
      taskId: child.taskId,
    }),
  );
  const delivered = deliveries.map((entry) => deliveryRow(entry, { history, attempts }));
  return { taskId, contextId, agent, state, traceId: trace.traceId, rows: [...rows, ...children, ...delivered] };
}

interface Attempt {
  readonly start: AttemptStart;
  readonly from: number;
  readonly end: number | undefined;
  readonly outcome: string;
  readonly created: NewSpan;
  readonly context: TraceContext;
}

/** A task that one commit created and ended has no journal: its log says when. */
function attemptsOf({ journal, createdAt, statusAt, state }: TaskHistory): readonly JournalEntry[] {
  const attempts = journal.filter(({ kind }) => kind === "attempt");
  if (attempts.length === 0 && state === "submitted") return [];
  const only: JournalEntry = { kind: "attempt", key: "1", turn: 1, attempt: 1, node: "", start: createdAt };
  const entries = attempts.length > 0 ? attempts : [only];
  return entries.map((entry, index) => {
    if (entry.end !== undefined) return entry;
    const next = entries[index + 1];
    // The next attempt began without an end of this one: its process died.
    if (next !== undefined) return { ...entry, end: lastSign(entry, next, journal), outcome: "crashed" };
    return isTerminal(state) ? { ...entry, end: statusAt, outcome: state } : entry;
  });
}

/** The last time at which an attempt is known to have run. */
function lastSign(entry: JournalEntry, next: JournalEntry, journal: readonly JournalEntry[]): number {
  const times = journal
    .filter(({ kind, turn, attempt }) => kind !== "attempt" && turn === entry.turn && attempt === entry.attempt)
    .flatMap(({ start, end = start }) => [start, end])
    .filter((time) => time <= next.start);
  return Math.max(entry.start, ...times);
}

function attemptOf(
  entry: JournalEntry,
  { history, trace }: { readonly history: TaskHistory; readonly trace: TraceContext },
): Attempt {
  const { taskId, contextId, agent } = history;
  const { turn = 1, attempt = 1 } = entry;
  const start: AttemptStart = { taskId, contextId, agent, trace, turn, attempt, skill: undefined };
  const created = attemptSpan(start);
  const context = { ...trace, spanId: created.spanId ?? "", flags: 1 };
  return { start, from: entry.start, end: entry.end, outcome: entry.outcome ?? "running", created, context };
}

function attemptRow(attempt: Attempt, events: readonly SpanEvent[]): TraceRow {
  const { start, from, end, outcome, created } = attempt;
  const label = start.turn === 1 ? `attempt ${start.attempt}` : `turn ${start.turn}, attempt ${start.attempt}`;
  const span = spanOf(created, {
    start: from,
    end,
    outcome,
    failed: outcome === "failed" || outcome === "crashed",
    events,
  });
  return { kind: "attempt", label, start: from, end, outcome, depth: 0, span };
}

function belongsTo({ kind, turn, attempt }: JournalEntry, { start }: Attempt): boolean {
  return kind !== "attempt" && kind !== "delivery" && turn === start.turn && attempt === start.attempt;
}

/** A span is not longer than its attempt, the line shows the whole wait. */
function innerRow(entry: JournalEntry, attempt: Attempt): TraceRow {
  const { kind, key, start, end, outcome = "running", call, result, called } = entry;
  if (called !== undefined) {
    const { taskId } = called;
    const row: TraceRow = { kind, label: childLabel(called), start, end, outcome, depth: 1 };
    return { ...row, ...(taskId !== undefined && { taskId }) };
  }
  const name = nameIn(key);
  const shown = call === undefined ? `${kind} ${name}` : `${call.kind} ${call.name}`;
  const row = { kind, label: name === "" ? kind : shown, start, end, outcome, depth: 1 };
  const place = { ...attempt.start, key, parent: attempt.context };
  const isCut = attempt.end !== undefined && (end === undefined || end > attempt.end);
  const ended = isCut ? { end: attempt.end, outcome: attempt.outcome } : { end, outcome };
  if (kind === "step") {
    const failed = ended.outcome !== "completed";
    const times = {
      start,
      ...ended,
      failed,
      ...(result !== undefined && { attributes: callResultAttributes(result) }),
    };
    return { ...row, span: spanOf(stepSpan({ ...place, name, call }), times) };
  }
  if (kind !== "question" && kind !== "wait") return row;
  return { ...row, span: spanOf(waitSpan({ ...place, kind }), { start, ...ended, failed: false }) };
}

/** `call of weather, task 01a1…`: the agent first, because long lines are cut. The agent may have answered without a task. */
function childLabel({ agent, taskId }: { readonly agent: string; readonly taskId?: string }): string {
  return taskId === undefined ? `call of ${agent}` : `call of ${agent}, task ${taskId}`;
}

/** The name in the key of a step, a question or a wait: `step:look#1` has the name `look`. */
function nameIn(key: string): string {
  return key.replace(/^\w+:/, "").replace(/#\d+$/, "");
}

/** Deliveries that succeeded one after the other are one entry. Its span is that of the last notification. */
function deliveryRow(
  { key, start, end, outcome = "running", upTo, count = 1, reason }: JournalEntry,
  { history, attempts }: { readonly history: TaskHistory; readonly attempts: readonly Attempt[] },
): TraceRow {
  const at = key.lastIndexOf(":");
  const [webhook, first] = [key.slice(0, at), Number(key.slice(at + 1))];
  const seq = upTo ?? first;
  const { taskId, agent } = history;
  const written = history.events.find((event) => event.seq === seq)?.at ?? start;
  const trace = (attempts.findLast(({ from }) => from <= written) ?? attempts[0])?.context;
  const created = deliverySpan({ taskId, agent, webhook, seq, attempt: reason === undefined ? 1 : count, trace });
  const events = seq > first ? `events ${first} to ${seq}` : `event ${seq}`;
  return {
    kind: "delivery",
    label: `webhook ${webhook}: ${events}${count > 1 ? `, ${count} requests` : ""}`,
    start,
    end,
    outcome,
    depth: 0,
    span: spanOf(created, { start, end, outcome, failed: outcome !== "delivered" }),
  };
}

function eventsOf(attempt: Attempt, all: readonly Attempt[], { events }: TaskHistory): readonly SpanEvent[] {
  const own = events.filter(({ at }) => (all.findLast(({ from }) => from <= at) ?? all[0]) === attempt);
  return own.map(({ seq, at, state }) => ({
    name: eventName(state),
    at,
    attributes: eventAttributes(seq, state),
  }));
}

interface Times {
  readonly start: number;
  readonly end: number | undefined;
  readonly outcome: string;
  readonly failed: boolean;
  readonly events?: readonly SpanEvent[];
  readonly attributes?: Attributes;
}

/** Spans hold 128 events, as live ones do. */
const MAX_EVENTS = 128;

function spanOf({ parent, spanId = "", name, kind, shared, attributes, continues }: NewSpan, times: Times): SpanData {
  const { start, end, outcome, failed, events = [] } = times;
  const parentSpanId = parent === undefined || /^0+$/.test(parent.spanId) ? undefined : parent.spanId;
  return {
    context: {
      traceId: parent?.traceId ?? "",
      spanId,
      flags: 1,
      ...(parent?.state !== undefined && { state: parent.state }),
    },
    parentSpanId,
    name,
    kind,
    start,
    end,
    attributes: { ...shared?.values, ...attributes, ...times.attributes, [ATTRIBUTE.outcome]: outcome },
    events: events.slice(0, MAX_EVENTS),
    droppedEvents: Math.max(0, events.length - MAX_EVENTS),
    links: continues === undefined ? [] : [continues],
    failed,
  };
}
