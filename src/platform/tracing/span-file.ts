import type { Logger } from "../../internal/logger.ts";
import { spanJson } from "../../telemetry/otlp/otlp-json.ts";
import { SpanQueue } from "../../telemetry/otlp/span-queue.ts";
import type { ReportedSpan } from "../../telemetry/otlp/span-sink.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { LineWriter, NODE_ENCODING } from "./line-writer.ts";
import { ShortLines } from "./short-lines.ts";
import { openSpanJournal, readSpanJournal, type SpanJournal } from "./span-journal.ts";
import { forgottenLine, recoveredSpans, sentLine } from "./span-lines.ts";

/** Spans that have not ended and are kept at most. */
const MAX_OPEN = 20_000;

/**
 * Keeps spans in a file until they are sent. Lines are written: for the beginning of a span, for its end, and for how many ended spans the collector
 * has. Nothing is forced to disk: what the operating system has survives `kill -9`. `half`: see {@link openSpanJournal}; for tests.
 */
export function openSpanFile(file: string, logger: Logger, half?: number): SpanSpool {
  const queue = new SpanQueue(NODE_ENCODING);
  for (const line of spansOfLastProcess(file, logger)) queue.addLine(line);
  if (queue.count > 0) logger.info("Exporting the spans that the last process had not sent", { spans: queue.count });
  /** Spans that have not ended, each at its `place`. */
  const open: ReportedSpan[] = [];
  /** Spans that have begun or ended since lines were last made of them, in this order, and which of it. Many at a time cost less. */
  const changed: ReportedSpan[] = [];
  const areEnds: boolean[] = [];
  /** Lines that wait to be written. */
  const lines = new LineWriter();
  const short = new ShortLines(lines);
  let isChanged = false;
  let journal: SpanJournal | undefined;
  let flushing: NodeJS.Immediate | undefined;
  /** The file would give the next process spans that the collector has, so it is removed. */
  const fail = (error: unknown): void => {
    journal?.remove();
    journal = undefined;
    logger.warn("Spans are not kept for the case of a crash: their file cannot be written", { file, error });
  };
  /** The spans that were not sent: waiting lines say nothing else. */
  const needed = (): readonly Uint8Array[] => {
    short.clear();
    const unended = new LineWriter();
    for (const span of open) unended.line(spanJson(span));
    return [...queue.lines(), unended.slice()];
  };
  const makeLines = (): void => {
    for (const [index, span] of changed.entries()) {
      if (areEnds[index] === true) {
        if (!span.isWritten || !short.ended(span)) lines.line(spanJson(span));
      } else if (span.place >= 0) {
        if (!short.begun(span)) lines.line(spanJson(span));
        span.isWritten = true;
      }
    }
    changed.length = 0;
    areEnds.length = 0;
  };
  const flush = (): void => {
    if (!isChanged || journal === undefined) return;
    isChanged = false;
    makeLines();
    try {
      if (queue.count === 0 && open.length === 0) {
        short.clear();
        journal.clear();
      } else journal.append(lines.slice());
      lines.cutTo(0);
    } catch (error) {
      fail(error);
    }
  };
  /** Writes the lines soon. */
  const schedule = (): void => {
    isChanged = true;
    flushing ??= setImmediate(() => {
      flushing = undefined;
      flush();
    });
  };
  /** False if the span is not among those that have begun. */
  const remove = (span: ReportedSpan): boolean => {
    const { place } = span;
    if (place < 0) return false;
    span.place = -1;
    const last = open.pop();
    if (last === undefined || last === span) return true;
    open[place] = last;
    last.place = place;
    return true;
  };
  try {
    journal = openSpanJournal({ file, needed, ...(half !== undefined && { half }) });
  } catch (error) {
    fail(error);
  }
  return {
    queue,
    began(span) {
      if (open.length >= MAX_OPEN || journal === undefined) return;
      span.place = open.push(span) - 1;
      changed.push(span);
      areEnds.push(false);
      schedule();
    },
    ended(span) {
      remove(span);
      if (journal === undefined) return;
      changed.push(span);
      areEnds.push(true);
      schedule();
    },
    forget(span) {
      if (!remove(span) || !span.isWritten || journal === undefined) return;
      lines.line(forgottenLine(span.context.spanId));
      schedule();
    },
    flush,
    sent(count) {
      if (journal === undefined) return;
      lines.line(sentLine(count));
      isChanged = true;
      flush();
    },
    close() {
      clearImmediate(flushing);
      journal?.remove();
      journal = undefined;
    },
  };
}

function spansOfLastProcess(file: string, logger: Logger): readonly string[] {
  try {
    return recoveredSpans(readSpanJournal(file));
  } catch (error) {
    logger.warn("The spans that the last process had not sent are lost: their file cannot be read", { file, error });
    return [];
  }
}
