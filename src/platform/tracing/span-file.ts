import type { Logger } from "../../internal/logger.ts";
import type { SpanText } from "../../telemetry/otlp/otlp-json.ts";
import { SpanQueue } from "../../telemetry/otlp/span-queue.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { TextBytes, type TextEncoding } from "../../telemetry/otlp/text-bytes.ts";
import { openSpanJournal, readSpanJournal, type SpanJournal } from "./span-journal.ts";
import { forgottenLine, recoveredSpans, sentLine } from "./span-lines.ts";

/** Spans that have not ended and are kept at most. */
const MAX_OPEN = 20_000;

/** Bytes that are reserved for lines. */
const LINES = 65_536;

const SPACE = 0x20;
const LINE_FEED = 0x0a;

/** Writes into the array without a view of it for each text. */
const NODE_ENCODING: TextEncoding = {
  allocate: (size) => Buffer.alloc(size),
  write(bytes, text, at) {
    if (bytes instanceof Buffer) bytes.write(text, at, "latin1");
  },
};

/**
 * Keeps spans in a file until they are sent. Lines are written: for the beginning of a span, for its end, and for how many ended spans the collector
 * has. Nothing is forced to disk: what the operating system has survives `kill -9`. `half`: see {@link openSpanJournal}; for tests.
 */
export function openSpanFile(file: string, logger: Logger, half?: number): SpanSpool {
  const queue = new SpanQueue(NODE_ENCODING);
  for (const line of recoveredSpans(readSpanJournal(file))) queue.addLine(line);
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
    const begun = new TextBytes(LINES, NODE_ENCODING);
    for (const span of open) {
      begun.writeSpan(span);
      begun.writeCode(LINE_FEED);
    }
    return [...queue.lines(), begun.slice()];
  };
  const write = (into: SpanJournal): void => {
    try {
      if (queue.count === 0 && open.length === 0) into.clear();
      else into.append(lines.slice());
      lines.clear();
    } catch (error) {
      fail(error);
    }
  };
  const flush = (): void => {
    if (lines.length > 0 && journal !== undefined) write(journal);
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
      writeLine(span);
      schedule();
    },
    ended(span) {
      const hasBegun = remove(span);
      if (journal === undefined) return;
      if (hasBegun) writeEnd(span);
      else writeLine(span);
      schedule();
    },
    forget(span) {
      if (!remove(span) || journal === undefined) return;
      lines.write(forgottenLine(span.spanId));
      schedule();
    },
    flush,
    sent(count) {
      if (journal === undefined) return;
      lines.write(sentLine(count));
      flush();
    },
    close() {
      clearImmediate(flushing);
      journal?.remove();
      journal = undefined;
    },
  };
}
