import type { TaskLog } from "../../engine/agent/agent.ts";

/** Characters of one line, and lines of one process. The rest is dropped: a log is not a place for unlimited output. */
const MAX_LINE = 4096;
const MAX_LINES = 1000;

/** Writes the standard error of a program to the log of its task, line by line. */
export function createStderrLog(log: TaskLog): { add(chunk: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  let line = "";
  let lines = 0;
  const flush = (): void => {
    if (line.trim() !== "") {
      lines += 1;
      log.info("Standard error of the program", { line: line.slice(0, MAX_LINE) });
      if (lines === MAX_LINES) log.warn("Further lines of standard error are dropped", { lines });
    }
    line = "";
  };
  return {
    add(chunk) {
      // Reading goes on, so that the program is not blocked.
      if (lines >= MAX_LINES) return;
      for (const [index, piece] of decoder.decode(chunk, { stream: true }).split(/\r?\n/).entries()) {
        if (index > 0) flush();
        if (lines >= MAX_LINES) return;
        if (line.length < MAX_LINE) line += piece;
      }
    },
    end: flush,
  };
}
