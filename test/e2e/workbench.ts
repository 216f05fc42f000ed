import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = join(import.meta.dirname, "..", "..");
const MAIN = join(ROOT, "src", "cli", "main.ts");

/** A module or script of `test/fixtures`. */
export function fixture(name: string): string {
  return join(ROOT, "test", "fixtures", name);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** A server in its own process. */
export interface Serving {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Sends a signal and waits until the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Ended>;
  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void;
  /** Sends one question to the fixture script over IPC and returns its answer. */
  ask(question: unknown): Promise<unknown>;
}

/** A temporary folder and the processes started in it. `close` removes both. */
export class Workbench {
  readonly folder: string = mkdtempSync(join(tmpdir(), "palaver-e2e-"));
  readonly #children = new Set<ChildProcess>();

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Creates the file that a fixture waits for. */
  openGate(gate: string): void {
    writeFileSync(this.path(gate), "");
  }

  /** The lines that a fixture wrote to a file of the folder. */
  lines(name: string): readonly string[] {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8").trimEnd().split("\n") : [];
  }

  /** Runs a command until it ends. */
  run(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
    return this.#start([MAIN, ...args], options).ended;
  }

  /** Starts `palaver serve` on a free port. Resolves when the server listens. */
  serve(args: readonly string[], options: StartOptions = {}): Promise<Serving> {
    return this.#listening([MAIN, "serve", "--port", "0", ...args], options);
  }

  /** Starts a fixture script that creates its own server and prints `listening on <url>` as `palaver serve` does. */
  serveScript(name: string, options: StartOptions = {}): Promise<Serving> {
    return this.#listening([fixture(name)], options);
  }

  /** Kills the processes that still run. */
  async stop(): Promise<void> {
    for (const child of this.#children) {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    }
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #listening(args: readonly string[], options: StartOptions): Promise<Serving> {
    const { child, ended, output } = this.#start(args, options);
    let over = false;
    void ended.then(() => {
      over = true;
    });
    await until(() => over || /listening on \S+\n/.test(output.stdout));
    const url = /listening on (\S+)\n/.exec(output.stdout)?.[1];
    if (url === undefined) throw new Error(`The server did not start: ${output.stderr}`);
    return {
      url,
      pid: child.pid ?? 0,
      ended,
      stdout: () => output.stdout,
      stderr: () => output.stderr,
      kill(signal) {
        child.kill(signal);
        return ended;
      },
      signal: (signal) => void child.kill(signal),
      async ask(question) {
        const answered = once(child, "message");
        child.send(question as object);
        const [answer]: unknown[] = await answered;
        return answer;
      },
    };
  }

  #start(args: readonly string[], { env = {}, nodeFlags = [] }: StartOptions) {
    const { PORT: _port, BIND_HOST: _host, DEBUG: _debug, LOG_LEVEL: _level, ...inherited } = process.env;
    const child = spawn(process.execPath, [...nodeFlags, ...args], {
      cwd: this.folder,
      env: { ...inherited, ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#children.add(child);
    const output = { stdout: "", stderr: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    const ended = once(child, "close").then(([code, signal]): Ended => {
      this.#children.delete(child);
      return { code, signal, ...output };
    });
    return { child, ended, output };
  }
}

/** Checks the condition every 5 ms, then less often: up to every 50 ms. The test's own timeout ends the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let pause = 5; !(await holds()); pause = Math.min(50, pause * 1.2)) await sleep(pause);
}
