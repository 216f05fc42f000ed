import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";

/**
 * A file to which lines are appended, and which is used again from its beginning instead of growing: a write into bytes that the file already has
 * costs a third of one that makes the file longer. It has two halves. When one is full, the other one gets what is still needed, as its first
 * record, and then the next lines. What a killed process has written is complete: a record counts only with its end.
 */
export interface SpanJournal {
  /** Throws if the lines cannot be written. */
  append(lines: Uint8Array): void;
  /** Nothing is needed any more. The file keeps its bytes, because making it longer again costs more. Throws if it cannot be written. */
  clear(): void;
  /** Closes and removes the file. Never throws. */
  remove(): void;
}

export interface SpanJournalOptions {
  readonly file: string;
  /** All lines that are still needed, those of the next `append` included. */
  readonly needed: () => readonly Uint8Array[];
  /** Bytes of a half at first. It doubles when what is needed takes more than half of it. Default 8 MB. */
  readonly half?: number;
}

/** Before the first half: the size of a half. */
const HEAD_BYTES = 64;

/** Replaces the file by one with what is needed. Throws if it cannot be written. */
export function openSpanJournal({ file, needed, half: firstHalf = 8_000_000 }: SpanJournalOptions): SpanJournal {
  let half = firstHalf;
  let descriptor: number | undefined;
  /** The number of halves that were begun. All records of a half have the same. */
  let lap = 0;
  /** Where the next record begins in its half. */
  let used = 0;

  /** A record is put together here, if it has room: one buffer costs less to write than several. */
  const reserved = Buffer.alloc(RECORD_SIZE);

  const record = (into: number, lines: readonly Uint8Array[]): void => {
    const length = sizeOf(lines);
    const bytes = length + RECORD_BYTES > RECORD_SIZE ? Buffer.alloc(length + RECORD_BYTES) : reserved;
    let size = bytes.write(`@${lap} ${length}\n`, "latin1");
    for (const piece of lines) {
      bytes.set(piece, size);
      size += piece.length;
    }
    size += bytes.write(recordEnd(lap), size, "latin1");
    if (writeSync(into, bytes, 0, size, HEAD_BYTES + (lap % 2) * half + used) < size)
      throw new Error("The disk is full");
    used += size;
  };
  /** The other half begins with these lines, and replaces the present one. */
  const startHalf = (into: number, lines: readonly Uint8Array[]): void => {
    lap += 1;
    used = 0;
    record(into, lines);
  };
  const create = (lines: readonly Uint8Array[]): void => {
    while (2 * sizeOf(lines) > half) half *= 2;
    const created = openSync(`${file}.new`, "w", 0o600);
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = created;
    lap = 0;
    used = 0;
    writeSync(created, `${`@half ${half}`.padEnd(HEAD_BYTES - 1)}\n`, 0);
    record(created, lines);
    renameSync(`${file}.new`, file);
  };
  create(needed());

  return {
    append(lines) {
      if (descriptor === undefined) return;
      if (used + lines.length + RECORD_BYTES <= half) return record(descriptor, [lines]);
      const all = needed();
      if (2 * sizeOf(all) > half) return create(all);
      startHalf(descriptor, all);
    },
    clear() {
      if (descriptor !== undefined) startHalf(descriptor, []);
    },
    remove() {
      const open = descriptor;
      descriptor = undefined;
      try {
        if (open !== undefined) closeSync(open);
        rmSync(file, { force: true });
        rmSync(`${file}.new`, { force: true });
      } catch {
        // The next process finds spans that were sent. Collectors show them once: their ids are the same.
      }
    },
  };
}

/** The most bytes of a record besides its lines. */
const RECORD_BYTES = 64;

/** Bytes that are reserved for a record. */
const RECORD_SIZE = 65_536;

function recordEnd(lap: number): string {
  return `@${lap}\n`;
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The lines in the file of an earlier process, as it would have them after its last complete write; empty if there is no file. Throws if it cannot be read. */
export function readSpanJournal(file: string): string {
  try {
    return linesIn(readFileSync(file));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/** The lines in the bytes of a journal. */
export function linesIn(bytes: Buffer): string {
  const [, half] = /^@half (\d+) *\n/.exec(bytes.toString("latin1", 0, HEAD_BYTES)) ?? [];
  // Earlier releases wrote lines only.
  if (half === undefined) return bytes.toString();
  const halves = [0, 1].map((index) => readHalf(bytes, HEAD_BYTES + index * Number(half)));
  return halves.reduce((one, other) => (other.lap > one.lap ? other : one)).text;
}

function readHalf(bytes: Buffer, start: number): { readonly lap: number; readonly text: string } {
  let text = "";
  let lap = -1;
  let at = start;
  while (true) {
    const [head, number, length] = /^@(\d+) (\d+)\n/.exec(bytes.toString("latin1", at, at + RECORD_BYTES)) ?? [];
    if (head === undefined || (lap >= 0 && lap !== Number(number))) return { lap, text };
    const first = at + head.length;
    const end = recordEnd(Number(number));
    const last = first + Number(length);
    if (bytes.toString("latin1", last, last + end.length) !== end) return { lap, text };
    lap = Number(number);
    text += bytes.toString("utf8", first, last);
    at = last + end.length;
  }
}
