import type { Send } from "../client/http/send.ts";
import type { Connect } from "./session/connect.ts";

/** An output stream. `write` resolves when the reader is ready for more. */
export interface Sink {
  /** The stream is a terminal. */
  readonly isTTY: boolean;
  write(text: string): Promise<void>;
}

/** Everything that a command uses from its environment. Tests pass their own; `node-context.ts` has that of a real process. */
export interface CliContext {
  /** How this program was started, such as `npx palaver`. Commands to copy start with it. */
  readonly program: string;
  /** Finds and calls agents. Tests replace it to run without a network. */
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /**
   * Asks the user for a line, on standard error. `hidden`: what is typed is not shown. Resolves with `undefined` at the end of the input. Absent: no
   * terminal.
   */
  readonly prompt?: (question: string, options?: { readonly hidden?: boolean }) => Promise<string | undefined>;
  /** Calls `handler` when the user interrupts (Ctrl+C), instead of aborting `signal`, until the returned function is called. Absent: there is no user. */
  readonly onInterrupt?: (handler: () => void) => () => void;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly cwd: string;
  /** The user's home folder: settings and tokens are below it. */
  readonly home: string;
  /** The current time in milliseconds since 1970. */
  readonly now: () => number;
  /** Waits. Rejects with the signal's reason if it aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly fetch: typeof fetch;
  /** Sends the requests of commands that call agents. Absent: `fetch`. */
  readonly send?: Send | undefined;
  /** Turns off the verification of TLS certificates for the whole process. */
  readonly trustAllCertificates: () => void;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
}
