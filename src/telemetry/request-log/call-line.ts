import { oneLine, plainText } from "../../internal/terminal-text.ts";
import type { ErrorCode } from "../../protocol/error.ts";
import type { CallReport } from "../call-report.ts";

/** A call for the request log. */
export interface LoggedCall extends CallReport {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Why the caller's credentials were refused. Absent: they were not. */
  readonly refusal: string | undefined;
}

/** Characters of a text that a caller chose; the rest is cut off. */
const MAX_TEXT = 128;

/** One JSON object in one line. It has no messages and no credentials. */
export function jsonLine(call: LoggedCall): string {
  const { at, agent, operation, dialect, principal, taskId, error, durationMs, remote, traceId, refusal } = call;
  // JSON leaves some control characters as they are; their escapes are valid JSON too.
  return plainText(
    JSON.stringify({
      level: "info",
      time: new Date(at).toISOString(),
      msg: "call",
      agent,
      operation,
      dialect,
      caller: cut(principal.id),
      credential: cut(principal.credential),
      taskId: cut(taskId),
      outcome: error?.code ?? "ok",
      refusal: cut(refusal),
      durationMs: Math.round(durationMs * 10) / 10,
      remote,
      traceId,
    }),
  );
}

/** One line for people: time, agent, operation, dialect, caller, task, outcome, duration. */
export function prettyLine(call: LoggedCall, isColored: boolean): string {
  const { at, agent, operation = "?", dialect = "-", principal, taskId = "-", error, durationMs, refusal } = call;
  const outcome = `${error?.code ?? "ok"}${refusal === undefined ? "" : ` (${refusal})`}`;
  const columns = [
    new Date(at).toISOString().slice(11, 19),
    agent.padEnd(12),
    operation.padEnd(9),
    dialect.padEnd(11),
    shown(principal.id).padEnd(16),
    shown(taskId).padEnd(36),
    isColored ? `\u001b[${colorOf(error?.code)}m${shown(outcome)}\u001b[0m` : shown(outcome),
    duration(durationMs),
  ];
  return columns.join(" ");
}

/** Green: the call succeeded. Red: the server failed. Yellow: the server refused the call. */
function colorOf(code: ErrorCode | undefined): number {
  if (code === undefined) return 32;
  return code === "internal" || code === "unavailable" || code === "invalid-agent-response" ? 31 : 33;
}

/** Text of a caller, safe for a terminal. */
function shown(text: string): string {
  return oneLine(cut(text) ?? "");
}

function cut(text: string | undefined): string | undefined {
  return text === undefined || text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${(milliseconds / 60_000).toFixed(1)} min`;
}
