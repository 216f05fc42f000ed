/** How a program and its task exchange text. */
export interface Conversation {
  /** Handles a chunk of standard output. A rejection ends the program and fails the task. */
  output(chunk: Uint8Array): Promise<void>;
  /** Standard output has ended. */
  end(): Promise<void>;
}
