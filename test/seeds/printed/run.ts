import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";

/**
 * The programs and requests printed in the seeds, each in its own file with its section: as printed, without comments.
 * Names that a program uses but does not define (`fetch`, `uuidv4`, `console`) come from the test that runs it.
 */
export const PRINTED = {
  "000-end-to-end.txt": "6.4 Start the server and verify end-to-end",
  "002-client-handling.txt": "Client Handling",
  "002-implementation-example.txt": "Client Tool Invocation › Implementation Example",
  "002-server-side.txt": "Server-Side (TypeScript)",
  "002-server.txt": "Server (TypeScript/Express + RxJS)",
  "002-client-side.txt": "Client-Side (TypeScript)",
  // Two lines are left out: they could never run and declare a second `error`, which no parser accepts.
  "002-client.txt": "Client (TypeScript)",
  "003-message-send.txt": "1. message/send › Request",
  "003-tasks-get.txt": "2. tasks/get › Request",
  "003-tasks-cancel.txt": "3. tasks/cancel › Request",
  "003-tasks-resubscribe.txt": "5. tasks/resubscribe › Request",
  "003-push-set.txt": "6. tasks/pushNotificationConfig/set › Request",
  "003-extended-card.txt": "7. agent/authenticatedExtendedCard › Request",
} as const;

export type PrintedName = keyof typeof PRINTED;

/** The text of a file in this folder, with each name of `filled` replaced by its value. */
export function printedText(name: PrintedName, filled: Readonly<Record<string, string>> = {}): string {
  let text = readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
  for (const [placeholder, value] of Object.entries(filled)) text = text.replaceAll(placeholder, value);
  return text;
}

export interface PrintedRun<Names> {
  /** The names that the program declares and the test uses. */
  readonly names: readonly (keyof Names & string)[];
  /** The names that the program uses but does not define. */
  readonly scope: Readonly<Record<string, unknown>>;
}

/**
 * Runs a printed program and returns its declarations of these names. The scope contains its imports; the names include
 * its exports.
 */
export function runPrinted<Names extends object>(program: PrintedName, { names, scope }: PrintedRun<Names>): Names {
  const body = printedText(program).replaceAll(/^(?:import|export default) .*$/gm, "");
  const code = stripTypeScriptTypes(`(function () { ${body}\nreturn { ${names.join(", ")} }; })`, {
    mode: "transform",
  });
  // Unchecked cast: the program must declare what the test lists.
  const made = compileFunction(`return ${code}`, Object.keys(scope), { filename: program }) as (
    ...values: unknown[]
  ) => () => Names;
  return made(...Object.values(scope))();
}

/** A `fetch` for programs that call a relative path or the host of an example. */
export function fetchFrom(url: string): (path: string, init?: RequestInit) => Promise<Response> {
  return (path, init) => {
    const { pathname } = new URL(path, "https://agent.example.com");
    return fetch(`${url}${pathname}`, init);
  };
}

/** A `console` that records what is logged. */
export function loggingConsole(): { readonly logged: unknown[][]; log(...args: unknown[]): void; warn: () => never } {
  const logged: unknown[][] = [];
  return {
    logged,
    log: (...args) => void logged.push(args),
    warn() {
      throw new Error("The program could not read an event");
    },
  };
}
