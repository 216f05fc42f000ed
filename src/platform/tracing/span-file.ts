import { closeSync, ftruncateSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import type { Logger } from "../../internal/logger.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { forgottenLine, recoveredSpans, sentLine } from "./span-lines.ts";

/** Spans that have not ended and are kept at most. */
const MAX_OPEN = 20_000;

/** Characters of a file that are tolerated before it is written anew without what the collector has. */
const MIN_REWRITE = 4_000_000;

/**
 * Keeps spans in a file until they are sent. Lines are appended: for the beginning of a span, for its end, and for how many ended spans the collector
 * has. Nothing is forced to disk: what the operating system has survives `kill -9`.
 */
export function openSpanFile(file: string, logger: Logger): SpanSpool {
  const recovered = recoveredSpans(file);
  if (recovered.length > 0)
    logger.info("Exporting the spans that the last process had not sent", { spans: recovered.length });
  const open = new Map<string, string>();
  let waiting = [...recovered];
  let descriptor: number | undefined;
  let lines = "";
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
  /** Replaces the file by one with only the spans that were not sent. */
  const rewrite = (): void => {
    lines = "";
    const kept = [...waiting, ...open.values()].map((span) => `${span}\n`).join("");
    try {
      writeFileSync(`${file}.new`, kept, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = openSync(file, "a", 0o600);
      size = kept.length;
      rewriteAt = Math.max(MIN_REWRITE, 2 * size);
    } catch (error) {
      fail(error);
    }
  };
  const flush = (): void => {
    if (lines === "" || descriptor === undefined) return;
    const bytes = Buffer.from(lines);
    size += lines.length;
    lines = "";
    try {
      if (writeSync(descriptor, bytes) < bytes.length) throw new Error("The disk is full");
      if (size > rewriteAt) rewrite();
    } catch (error) {
      fail(error);
    }
  };
  const append = (line: string): void => {
    if (descriptor === undefined) return;
    lines += `${line}\n`;
    flushing ??= setImmediate(() => {
      flushing = undefined;
      flush();
    });
  };
  rewrite();
  return {
    recovered,
    began(spanId, span) {
      if (open.size >= MAX_OPEN) return;
      open.set(spanId, span);
      append(span);
    },
    ended(spanId, span) {
      open.delete(spanId);
      waiting.push(span);
      append(span);
    },
    forget(spanId) {
      if (open.delete(spanId)) append(forgottenLine(spanId));
    },
    flush,
    sent(count) {
      waiting = waiting.slice(count);
      append(sentLine(count));
      flush();
      if (waiting.length > 0 || open.size > 0 || descriptor === undefined) return;
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
