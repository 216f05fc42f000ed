import { homedir } from "node:os";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Send } from "../client/http/send.ts";
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
    ...(process.stdin.isTTY === true && process.stderr.isTTY === true && { prompt: lazyPrompt(stop) }),
    onInterrupt(handler) {
      listenOnce(stop);
      interrupts.push(handler);
      return () => void interrupts.splice(interrupts.lastIndexOf(handler), 1);
    },
    stdout: sinkOf(process.stdout, process.stdout.isTTY, stop),
    stderr: sinkOf(process.stderr, process.stderr.isTTY, stop),
    cwd: process.cwd(),
    home: process.env["HOME"] || homedir(),
    now: Date.now,
    sleep: async (milliseconds, signal) => {
      await delay(milliseconds, undefined, { signal });
    },
    fetch: (input, init) => fetch(input, init),
    // Only `fetch` uses the proxy of the environment in all versions of Node.
    ...(!usesProxy() && { send: lazySend }),
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

/** Whether Node sends requests through a proxy: by a variable, or by a flag of this process. */
function usesProxy(): boolean {
  const { NODE_USE_ENV_PROXY = "", NODE_OPTIONS = "" } = process.env;
  return (
    NODE_USE_ENV_PROXY === "1" || [...process.execArgv, NODE_OPTIONS].some((text) => text.includes("--use-env-proxy"))
  );
}

/** Loads what sends requests with the first one. */
const lazySend: Send = async (url, request) => (await import("./http/node-send.ts")).nodeSend(url, request);

/** Contexts that already listen to signals. */
const listening = new WeakSet<AbortController>();

/** What Ctrl+C does instead of ending the command; the last one is called. */
const interrupts: (() => void)[] = [];

function listenOnce(stop: AbortController): void {
  if (listening.has(stop)) return;
  listening.add(stop);
  process.once("SIGTERM", () => stop.abort(new Error("Stopped by SIGTERM.")));
  const interrupt = (): void => {
    const handler = interrupts.at(-1);
    if (handler !== undefined) {
      handler();
      return;
    }
    // The next signal ends the process at once.
    process.off("SIGINT", interrupt);
    stop.abort(new Error("Stopped by SIGINT."));
  };
  process.on("SIGINT", interrupt);
}

/** Loads what reads lines with the first question: most commands ask none. */
function lazyPrompt(stop: AbortController): NonNullable<CliContext["prompt"]> {
  let prompt: CliContext["prompt"];
  return async (question, options) => {
    prompt ??= (await import("./terminal-prompt.ts")).createPrompt(stop);
    return prompt(question, options);
  };
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
