import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ProcessRecords } from "./process-records.ts";
import { MARKER, markedProcesses, signal } from "./process-table.ts";

/** Milliseconds without output after which the output of a process that has ended is no longer awaited. */
const OUTPUT_WAIT = 1000;

/** What to start. */
export interface ChildOptions {
  /** The absolute path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Identifies this start. */
  readonly run: string;
  readonly records: ProcessRecords;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
}

/** How a process ended: with an exit code, or by a signal. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Handles a chunk of output. The next chunk is read when the promise resolves. */
type OutputHandler = (chunk: Buffer) => Promise<void>;

/**
 * A program that runs in its own process group, without a shell. When it has ended, or was stopped, the other processes of the group and all processes
 * that carry its marker are killed.
 */
export class Child {
  /** Resolves when the process and everything that it started has ended. Rejects if it could not be started. */
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #options: ChildOptions;
  #hasExited = false;
  #killTimer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: ChildOptions) {
    const { program, args, cwd, env, run, records } = options;
    this.#options = options;
    this.#process = spawn(program, args, {
      cwd,
      env: { ...env, [MARKER]: `${records.owner}:${run}` },
      stdio: ["pipe", "pipe", "pipe"],
      // Its own session, and so its own process group, whose id is the process id.
      detached: true,
      shell: false,
    });
    // A process that does not read its input, or ends before it did, is not an error.
    this.#process.stdin.on("error", () => {});
    this.ended = this.#watch();
    // Reported where it is awaited.
    this.ended.catch(() => {});
    this.#record();
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Writes to standard input. Nothing happens if the process no longer reads it. */
  write(text: string | Uint8Array): void {
    if (this.#process.stdin.writable) this.#process.stdin.write(text);
  }

  /** Closes standard input. */
  endInput(): void {
    this.#process.stdin.end();
  }

  /** Calls `handle` for each chunk of standard output, one at a time. Resolves at its end; rejects with the error of `handle`. */
  readOutput(handle: OutputHandler): Promise<void> {
    return read(this.#process.stdout, handle);
  }

  /** The same for standard error. */
  readErrors(handle: OutputHandler): Promise<void> {
    return read(this.#process.stderr, handle);
  }

  /**
   * Asks the process group to end (SIGTERM), kills it (SIGKILL) after the grace, and discards all further output. Resolves when everything has ended.
   * Safe to call repeatedly.
   */
  async stop(): Promise<void> {
    if (!this.#isStopping && !this.#hasExited) {
      this.#isStopping = true;
      this.#signalGroup("SIGTERM");
      this.#killTimer = setTimeout(() => this.kill(), this.#options.grace);
    }
    discard(this.#process.stdout);
    discard(this.#process.stderr);
    this.#process.stdin.destroy();
    await this.ended.catch(() => undefined);
  }

  /** Closes standard input, and stops the process if it has not ended after the grace. */
  stopLater(): void {
    this.#process.stdin.end();
    const timer = setTimeout(() => void this.stop(), this.#options.grace);
    const clear = (): void => clearTimeout(timer);
    this.ended.then(clear, clear);
  }

  /** Kills the process group at once. */
  kill(): void {
    this.#signalGroup("SIGKILL");
  }

  #signalGroup(name: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid !== undefined && !this.#hasExited) signal(-pid, name);
  }

  #record(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      this.#options.records.add(pid);
    } catch (error) {
      // Without a record it might survive this server.
      this.kill();
      throw error;
    }
  }

  #watch(): Promise<Ending> {
    const child = this.#process;
    return new Promise((resolve, reject) => {
      child.once("error", (error) => {
        // Also emitted if a signal could not be sent; then the process has a process id.
        if (child.pid === undefined) reject(error);
      });
      child.once("exit", (code, ended) => {
        if (child.pid !== undefined) signal(-child.pid, "SIGKILL");
        this.#hasExited = true;
        clearTimeout(this.#killTimer);
        child.stdin.destroy();
        closeWhenQuiet(child.stdout);
        closeWhenQuiet(child.stderr);
        void this.#killOthers().then(() => {
          if (child.pid !== undefined) this.#options.records.remove(child.pid);
          resolve({ code, signal: ended });
        });
      });
    });
  }

  /** Kills processes that left the group. Repeats until there are none, because they may start others meanwhile. */
  async #killOthers(): Promise<void> {
    const { records, run } = this.#options;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const others = (await markedProcesses()).filter((one) => one.owner === records.owner && one.run === run);
      if (others.length === 0) return;
      for (const { pid } of others) signal(pid, "SIGKILL");
    }
  }
}

const MAX_ROUNDS = 20;

function read(stream: Readable, handle: OutputHandler): Promise<void> {
  return new Promise((resolve, reject) => {
    // When a process ends, Node reads the rest of its output even if the stream is paused: so chunks wait here for each other.
    let work = Promise.resolve();
    const fail = (error: unknown): void => {
      discard(stream);
      reject(error);
    };
    stream.on("data", (chunk: Buffer) => {
      stream.pause();
      work = work.then(() => handle(chunk)).then(() => void stream.resume());
      work.catch(fail);
    });
    const finish = (): void => void work.then(resolve, fail);
    stream.once("close", finish);
    // A broken pipe ends the output.
    stream.once("error", finish);
    if (stream.destroyed) finish();
  });
}

/** Reads the rest and drops it, so that the process is not blocked while it ends. */
function discard(stream: Readable): void {
  stream.removeAllListeners("data");
  stream.on("data", () => {});
  stream.resume();
}

/** Closes the output if nothing comes for a while, because a process that cannot be killed may hold it open. */
function closeWhenQuiet(stream: Readable): void {
  if (stream.destroyed) return;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    // Output that waits for its reader is not lost.
    if (stream.isPaused()) timer = setTimeout(look, OUTPUT_WAIT);
    else stream.destroy();
  };
  timer = setTimeout(look, OUTPUT_WAIT);
  stream.on("data", () => timer?.refresh());
  stream.once("close", () => clearTimeout(timer));
}
