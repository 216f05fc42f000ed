import { homedir } from "node:os";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { CliContext, Sink } from "./context.ts";
import { programName } from "./program-name.ts";
import type { Connect } from "./session/connect.ts";

/** The context of a real process. SIGINT (Ctrl+C) or SIGTERM aborts its signal; a second one ends the process at once. */
export function createNodeContext(connect: Connect): CliContext {
  const stop = new AbortController();
  return {
    connect,
    program: programName(process.env),
    env: process.env,
    // A getter: Node opens standard input on first access, and it may be closed.
    get stdin() {
      return process.stdin;
    },
    ...(process.stdin.isTTY === true &&
      process.stderr.isTTY === true && { prompt: (question, options) => askLine(question, stop, options) }),
    stdout: sinkOf(process.stdout, process.stdout.isTTY, stop),
    stderr: sinkOf(process.stderr, process.stderr.isTTY, stop),
    cwd: process.cwd(),
    home: process.env["HOME"] || homedir(),
    now: Date.now,
    sleep: async (milliseconds, signal) => {
      await delay(milliseconds, undefined, { signal });
    },
    fetch: (input, init) => fetch(input, init),
    trustAllCertificates() {
      // Node reads the variable for every new connection. Its own warning would repeat the one of the command line.
      process.removeAllListeners("warning");
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    },
    get signal() {
      // Listen to signals only when a command uses this one: servers handle SIGINT and SIGTERM themselves.
      listenOnce(stop);
      return stop.signal;
    },
  };
}

/** Asks for one line. Ctrl+C aborts the command; Ctrl+D ends the input. */
async function askLine(
  question: string,
  stop: AbortController,
  { hidden = false }: { readonly hidden?: boolean } = {},
): Promise<string | undefined> {
  // Hidden: the terminal must not echo, and nothing that is typed may be written.
  if (hidden) process.stderr.write(question);
  const output = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  lines.once("SIGINT", () => stop.abort(new Error("Stopped by SIGINT.")));
  try {
    const closed = new Promise<undefined>((resolve) => void lines.once("close", () => resolve(undefined)));
    return await Promise.race([lines.question(hidden ? "" : question, { signal: stop.signal }), closed]);
  } finally {
    lines.close();
    if (hidden) process.stderr.write("\n");
  }
}

/** Contexts that already listen to signals. */
const listening = new WeakSet<AbortController>();

function listenOnce(stop: AbortController): void {
  if (listening.has(stop)) return;
  listening.add(stop);
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => stop.abort(new Error(`Stopped by ${name}.`)));
  }
}

/** Writes wait for a slow reader. If the reader closed the pipe (EPIPE), the command is aborted. */
function sinkOf(stream: Writable, isTTY: boolean, stop: AbortController): Sink {
  let isGone = false;
  stream.on("error", (error: Error & { readonly code?: string }) => {
    if (error.code !== "EPIPE") throw error;
    isGone = true;
    stop.abort(error);
  });
  return {
    isTTY: Boolean(isTTY),
    write: (text) =>
      new Promise((done) => {
        if (isGone || stream.write(text)) done();
        else {
          const go = (): void => {
            stream.off("drain", go).off("error", go).off("close", go);
            done();
          };
          stream.on("drain", go).on("error", go).on("close", go);
        }
      }),
  };
}
