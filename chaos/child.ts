import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

export interface ChildOptions {
  /** Path below this folder. */
  readonly script: string;
  readonly setup: object;
  /** Standard output and error are appended to this file. */
  readonly log: string;
  readonly nodeOptions?: readonly string[];
}

const living = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/** Starts one of this folder's scripts in its own process, which ends when this process ends. */
export function startChild({ script, setup, log, nodeOptions = [] }: ChildOptions): ChildProcess {
  const file = openSync(log, "a");
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(setup)], {
    execArgv: [...nodeOptions],
    stdio: ["ignore", file, file, "ipc"],
  });
  closeSync(file);
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}

/** The next message of a child. `undefined`: the child ended first. */
export async function nextMessage<Message>(child: ChildProcess): Promise<Message | undefined> {
  const abort = new AbortController();
  const { signal } = abort;
  try {
    const message = once(child, "message", { signal }).then(([first]): Message => first);
    const gone = once(child, "exit", { signal }).then(() => undefined);
    message.catch(() => {});
    gone.catch(() => {});
    return await Promise.race([message, gone]);
  } finally {
    abort.abort();
  }
}

/** Resolves when the process has ended. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
