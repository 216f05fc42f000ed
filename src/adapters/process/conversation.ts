import type { AskLine } from "./lines/program-line.ts";

/** How a program and its task exchange text. */
export interface Conversation {
  /** Handles a chunk of standard output. A rejection ends the program and fails the task. */
  output(chunk: Uint8Array): Promise<void>;
  /** Standard output has ended. */
  end(): Promise<void>;
  /** The question with which the program ended, to be started again with the answer. */
  question(): AskLine | undefined;
}
