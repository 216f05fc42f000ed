import { oneLine } from "../../internal/terminal-text.ts";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import type { Sink } from "../context.ts";
import { toolLine } from "./tool-line.ts";

/** A progress line on a terminal; nothing elsewhere. */
export interface Progress {
  /** Sets the text of the line. */
  say(text: string): void;
  /** Removes the line before other output. It reappears by itself. */
  clear(): Promise<void>;
  /** Whether a line of output is incomplete: the progress line would erase it. */
  hold(isHeld: boolean): void;
  stop(): Promise<void>;
}

const SILENT: Progress = { say: () => {}, clear: async () => {}, hold: () => {}, stop: async () => {} };
/** One character per step of the animation. */
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;
/** Characters: a longer line would wrap, and only its last row could be erased. */
const WIDTH = 76;
const CLEAR_LINE = "\r\u001b[2K";

/** Draws every 100 ms until `stop`. Writes nothing if standard error is not a terminal. */
export function startProgress(
  stderr: Sink,
  env: Readonly<Record<string, string | undefined>>,
  now: () => number,
): Progress {
  // A terminal without control sequences, or the log of a CI job.
  if (!stderr.isTTY || env["TERM"] === "dumb" || env["CI"]) return SILENT;
  const started = now();
  let text = "Connecting";
  let frame = 0;
  let isShown = false;
  let isHeld = false;
  const draw = (): void => {
    if (isHeld) return;
    const seconds = Math.floor((now() - started) / 1000);
    const line = `${FRAMES[frame++ % FRAMES.length]} ${text}${seconds > 1 ? ` (${seconds} s)` : ""}`;
    isShown = true;
    void stderr.write(`${CLEAR_LINE}${line.slice(0, WIDTH)}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  timer.unref();
  const clear = async (): Promise<void> => {
    if (!isShown) return;
    isShown = false;
    await stderr.write(CLEAR_LINE);
  };
  return {
    say(next) {
      text = oneLine(next);
    },
    clear,
    hold(held) {
      isHeld = held;
    },
    async stop() {
      clearInterval(timer);
      await clear();
    },
  };
}

/** A short description of a task. */
export function progressText({ status }: Task): string {
  const parts = status.message?.parts ?? [];
  const tool = parts.map((part) => toolLine(part, false)).find((line) => line !== undefined);
  const text = textOf(parts) || (tool === undefined ? "" : `${tool.label}: ${tool.text}`);
  const state = status.isUnspecified === true ? "state unknown" : status.state;
  return text === "" ? state : `${state}: ${text}`;
}
