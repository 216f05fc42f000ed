import { closeSync, constants, ftruncateSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import type { Logger } from "../../internal/logger.ts";
import type { SpanText } from "../../telemetry/otlp/otlp-json.ts";
import { SpanQueue } from "../../telemetry/otlp/span-queue.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { TextBytes, type TextEncoding } from "../../telemetry/otlp/text-bytes.ts";
import { forgottenLine, recoveredSpans, sentLine } from "./span-lines.ts";

/** Spans that have not ended and are kept at most. */
const MAX_OPEN = 20_000;

/** Bytes of a file that are tolerated before it is written anew without what the collector has. */
const MIN_REWRITE = 16_000_000;

/** Bytes that are reserved for lines. */
const LINES = 65_536;

const SPACE = 0x20;
const LINE_FEED = 0x0a;

const EMPTY_FOR_APPENDING = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/** Writes into the array without a view of it for each text. */
const NODE_ENCODING: TextEncoding = {
  allocate: (size) => Buffer.alloc(size),
  write(bytes, text, at) {
    if (bytes instanceof Buffer) bytes.write(text, at, "latin1");
  },
};

/**
 * Keeps spans in a file until they are sent. Lines are appended: for the beginning of a span, for its end, and for how many ended spans the collector
 * has. Nothing is forced to disk: what the operating system has survives `kill -9`.
 */
export function openSpanFile(file: string, logger: Logger): SpanSpool {
  const queue = new SpanQueue(NODE_ENCODING);
  for (const line of recoveredSpans(file)) queue.addLine(line);
  if (queue.count > 0) logger.info("Exporting the spans that the last process had not sent", { spans: queue.count });
  /** Spans that have not ended, each at its `place`. */
  const open: SpanText[] = [];
  /** Lines that wait to be written. */
  const lines = new TextBytes(LINES, NODE_ENCODING);
  const writeLine = (span: SpanText): void => {
    lines.writeSpan(span);
    lines.writeCode(LINE_FEED);
  };
  /** The file has the rest of a span that has begun. */
  const writeEnd = ({ spanId, tail }: SpanText): void => {
    lines.write(spanId);
    lines.writeCode(SPACE);
    lines.write(tail);
    lines.writeCode(LINE_FEED);
  };
  let descriptor: number | undefined;
  let size = 0;
  let rewriteAt = MIN_REWRITE;
  let flushing: NodeJS.Immediate | undefined;
  /** The file would give the next process spans that the collector has, so it is removed. */
  const fail = (error: unknown): void => {
    const failed = descriptor;
    descriptor = undefined;
    try {
      if (failed !== undefined) closeSync(failed);
      rmSync(file, { force: true });
    } catch {
      // The warning says all there is to do.
    }
    logger.warn("Spans are not kept for the case of a crash: their file cannot be written", { file, error });
  };
  /** Replaces the file by one with only the spans that were not sent. Call it when all lines are written. */
  const rewrite = (): void => {
    try {
      const written = openSync(`${file}.new`, EMPTY_FOR_APPENDING, 0o600);
      size = 0;
      for (const piece of queue.lines()) size += writeAll(written, piece);
      for (const span of open) writeLine(span);
      size += writeAll(written, lines.slice());
      lines.clear();
      renameSync(`${file}.new`, file);
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = written;
      rewriteAt = Math.max(MIN_REWRITE, 2 * size);
    } catch (error) {
      fail(error);
    }
  };
  const flush = (): void => {
    if (lines.length === 0 || descriptor === undefined) return;
    try {
      size += writeAll(descriptor, lines.slice());
      lines.clear();
      if (size > rewriteAt) rewrite();
    } catch (error) {
      fail(error);
    }
  };
  /** Writes the lines soon. */
  const schedule = (): void => {
    flushing ??= setImmediate(() => {
      flushing = undefined;
      flush();
    });
  };
  /** False if the span is not among those that have begun. */
  const remove = (span: SpanText): boolean => {
    const { place } = span;
    if (place < 0) return false;
    span.place = -1;
    const last = open.pop();
    if (last === undefined || last === span) return true;
    open[place] = last;
    last.place = place;
    return true;
  };
  rewrite();
  return {
    queue,
    began(span) {
      if (open.length >= MAX_OPEN || descriptor === undefined) return;
      span.place = open.push(span) - 1;
      writeLine(span);
      schedule();
    },
    ended(span) {
      const hasBegun = remove(span);
      if (descriptor === undefined) return;
      if (hasBegun) writeEnd(span);
      else writeLine(span);
      schedule();
    },
    forget(span) {
      if (!remove(span) || descriptor === undefined) return;
      lines.write(forgottenLine(span.spanId));
      schedule();
    },
    flush,
    sent(count) {
      if (descriptor === undefined) return;
      lines.write(sentLine(count));
      flush();
      if (queue.count > 0 || open.length > 0 || descriptor === undefined) return;
      ftruncateSync(descriptor);
      size = 0;
    },
    close() {
      clearImmediate(flushing);
      if (descriptor === undefined) return;
      closeSync(descriptor);
      descriptor = undefined;
      rmSync(file, { force: true });
    },
  };
}

function writeAll(descriptor: number, bytes: Uint8Array): number {
  if (writeSync(descriptor, bytes) < bytes.length) throw new Error("The disk is full");
  return bytes.length;
}
