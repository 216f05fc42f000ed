import { processFailure } from "../process-failure.ts";

const LINE_FEED = 0x0a;

/** Splits chunks of bytes into lines. */
export interface LineSplitter {
  /** The lines that a chunk completes, without their line break. Throws a `TaskFailure` for a line that is too long or not UTF-8. */
  add(chunk: Uint8Array): readonly string[];
  /** The last line, if it has no line break. */
  end(): readonly string[];
}

/** Keeps at most `maxLine` bytes. Empty lines are left out. */
export function createLineSplitter(maxLine: number): LineSplitter {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let count = 0;
  const keep = (piece: Uint8Array): void => {
    size += piece.length;
    if (size > maxLine)
      throw processFailure("process-line-too-long", `Line ${count + 1} of the program has more than ${maxLine} bytes.`);
    if (piece.length > 0) pieces.push(piece);
  };
  const take = (): readonly string[] => {
    count += 1;
    const line = decode(Buffer.concat(pieces), count).trim();
    pieces = [];
    size = 0;
    return line === "" ? [] : [line];
  };
  return {
    add(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
        keep(chunk.subarray(start, at));
        lines.push(...take());
        start = at + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
    end: take,
  };
}

function decode(bytes: Uint8Array, line: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw processFailure("process-line-invalid", `Line ${line} of the program is not valid UTF-8.`, { cause });
  }
}
