import { refusalOf } from "../../auth/verify/refusal.ts";
import type { Logger } from "../../internal/logger.ts";
import type { ReportCall } from "../../telemetry/call-report.ts";
import { jsonLine, type LoggedCall, prettyLine } from "../../telemetry/request-log/call-line.ts";

/** `pretty`: a short line for people. `json`: one JSON object per line. */
export const LOG_FORMATS = ["pretty", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Where lines go. A stream of Node. */
export interface LogStream {
  /** Bytes that wait for the reader. */
  readonly writableLength: number;
  write(text: string): unknown;
}

export interface RequestLogOptions {
  readonly format: LogFormat;
  readonly isColored: boolean;
  readonly stream: LogStream;
}

/** Bytes that may wait for a slow reader of the log. Further lines are dropped and counted. */
const MAX_WAITING = 1_048_576;

/** Writes one line per call. Lines of one turn of the event loop are written together; calls never wait for the log. */
export function createRequestLog({ format, isColored, stream }: RequestLogOptions): ReportCall {
  let lines: string[] = [];
  let dropped = 0;
  const flush = (): void => {
    if (stream.writableLength > MAX_WAITING) {
      dropped += lines.length;
      lines = [];
      return;
    }
    if (dropped > 0) lines.push(droppedLine(format, dropped));
    dropped = 0;
    stream.write(`${lines.join("\n")}\n`);
    lines = [];
  };
  return (report) => {
    const call: LoggedCall = { ...report, at: Date.now(), refusal: refusalOf(report.error)?.message };
    if (lines.length === 0) setImmediate(flush);
    lines.push(format === "json" ? jsonLine(call) : prettyLine(call, isColored));
  };
}

function droppedLine(format: LogFormat, dropped: number): string {
  const text = "Lines of the request log were dropped: its reader is too slow";
  if (format === "pretty") return `${text} (${dropped})`;
  return JSON.stringify({ level: "warn", time: new Date().toISOString(), msg: text, dropped });
}

/** Refusals that are logged within one period. */
const MAX_REFUSALS = 10;
const PERIOD_MS = 10_000;

/** Logs why credentials are refused, for servers without a request log. Bounded: an attacker must not fill the disk. */
export function createRefusalLog(logger: Logger, now: () => number = () => performance.now()): ReportCall {
  let periodEnds = 0;
  let logged = 0;
  let suppressed = 0;
  return ({ error, agent, operation, dialect, remote }) => {
    const refusal = error === undefined ? undefined : refusalOf(error);
    if (refusal === undefined) return;
    if (now() >= periodEnds) {
      if (suppressed > 0) logger.info("Further credentials were refused", { count: suppressed });
      periodEnds = now() + PERIOD_MS;
      logged = 0;
      suppressed = 0;
    }
    logged += 1;
    if (logged > MAX_REFUSALS) suppressed += 1;
    else logger.info("Credentials were refused", { reason: refusal.message, agent, operation, dialect, remote });
  };
}
