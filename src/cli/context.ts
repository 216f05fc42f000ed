import type { Connect } from "./session/connect.ts";

/** Where text goes. Resolves when the reader has taken it, so that a slow one is waited for. */
export interface Sink {
  /** Somebody watches. */
  readonly isTTY: boolean;
  write(text: string): Promise<void>;
}

/** Everything a command takes from the world around it. */
export interface CliContext {
  /** How this program was started, such as `npx palaver`: commands to paste begin with it. */
  readonly program: string;
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly cwd: string;
  readonly home: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Rejects with the signal's reason when that aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly fetch: typeof fetch;
  /** Takes certificates for granted from now on, in the whole process. */
  readonly trustAllCertificates: () => void;
  /** Aborts when somebody wants it to stop. */
  readonly signal: AbortSignal;
}
