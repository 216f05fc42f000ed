import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { CliContext } from "./context.ts";

type Prompt = NonNullable<CliContext["prompt"]>;

/** Lines that the arrow keys go back to. */
const MAX_HISTORY = 200;

/**
 * Asks for lines on the terminal of this process: with editing, with the earlier lines at the arrow keys, and without losing lines that were pasted together. Ctrl+C aborts
 * `stop`; Ctrl+D ends the input.
 */
export function createPrompt(stop: AbortController): Prompt {
  /** Newest first. Hidden lines are not in it. */
  let history: string[] = [];
  /** Lines that were pasted after the one that answered the last question. */
  const pasted: string[] = [];
  return async (question, { hidden = false } = {}) => {
    const next = hidden ? undefined : pasted.shift();
    if (next !== undefined) {
      process.stderr.write(`${question}${next}\n`);
      return next;
    }
    const line = await readLine(question, { hidden, history, pasted, stop });
    if (!hidden && line !== undefined && line.trim() !== "" && line !== history[0])
      history = [line, ...history].slice(0, MAX_HISTORY);
    return line;
  };
}

interface Reading {
  readonly hidden: boolean;
  readonly history: readonly string[];
  readonly pasted: string[];
  readonly stop: AbortController;
}

function readLine(question: string, { hidden, history, pasted, stop }: Reading): Promise<string | undefined> {
  // Hidden: nothing that is typed may be written.
  const output = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  if (hidden) process.stderr.write(question);
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: true,
    history: hidden ? [] : [...history],
    historySize: hidden ? 0 : MAX_HISTORY,
    removeHistoryDuplicates: true,
    prompt: hidden ? "" : question,
  });
  return new Promise((resolve) => {
    let hasLine = false;
    const end = (line: string | undefined): void => {
      if (hasLine) return;
      hasLine = true;
      // Later, because one paste may hold several lines.
      setImmediate(() => {
        stop.signal.removeEventListener("abort", abort);
        lines.close();
        if (hidden || line === undefined) process.stderr.write("\n");
        resolve(line);
      });
    };
    const abort = (): void => end(undefined);
    lines.on("line", (line) => {
      if (!hasLine) end(line);
      else if (!hidden) pasted.push(line);
    });
    lines.once("close", () => end(undefined));
    lines.once("SIGINT", () => stop.abort(new Error("Stopped by SIGINT.")));
    stop.signal.addEventListener("abort", abort, { once: true });
    lines.prompt();
  });
}
