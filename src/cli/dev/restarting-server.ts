import { type ChildProcess, spawn } from "node:child_process";
import { relative } from "node:path";
import { watchFolders } from "./watch-folders.ts";

export interface RestartingServerOptions {
  /** Arguments of Node: the program and the arguments of the server. */
  readonly argv: readonly string[];
  /** Folders whose source files restart the server. */
  readonly folders: readonly string[];
  readonly cwd: string;
  /** Called with the URL of the console when the server has first started. */
  readonly onConsole: (url: string) => void;
  /** Called at the start and after each change. */
  readonly onChange: () => void;
  /** Writes a line for the user. */
  readonly note: (line: string) => void;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

const CONSOLE_LINE = /^\s*Console:?\s+(\S+)$/m;

/**
 * Runs a server in a process of its own, and again whenever a source file changes. Tasks that run at that moment go on in the next process, with the
 * new code. Resolves with the exit code after `signal` aborts.
 */
export function runRestartingServer(options: RestartingServerOptions): Promise<number> {
  const { argv, folders, cwd, onConsole, onChange, note, signal } = options;
  const { promise, resolve } = Promise.withResolvers<number>();
  let child: ChildProcess | undefined;
  /** The file because of which the running process is being stopped. */
  let changed: string | undefined;
  let hasConsole = false;

  const start = (): void => {
    onChange();
    const started = spawn(process.execPath, argv, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    started.stdout.setEncoding("utf8").on("data", (text: string) => {
      process.stdout.write(text);
      const url = hasConsole ? undefined : CONSOLE_LINE.exec(text)?.[1];
      if (url === undefined) return;
      hasConsole = true;
      onConsole(url);
    });
    started.once("close", (code) => {
      child = undefined;
      if (signal.aborted) end(code ?? 0);
      else if (changed !== undefined) restart();
      else note(`The server stopped with code ${code}. It starts again when a file changes.`);
    });
  };
  const restart = (): void => {
    note(`${relative(cwd, changed ?? "")} has changed: starting again. Running tasks go on with the new code.`);
    changed = undefined;
    start();
  };
  const watching = watchFolders(folders, (file) => {
    changed = file;
    if (child === undefined) restart();
    else child.kill("SIGTERM");
  });
  const end = (code: number): void => {
    watching.close();
    resolve(code);
  };
  signal.addEventListener("abort", () => {
    if (child === undefined) end(0);
    else child.kill("SIGTERM");
  });
  start();
  return promise;
}
