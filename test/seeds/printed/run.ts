import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";

/**
 * The programs that the seeds print, each in a file of its own: as printed, without comments. What a program uses but does not define
 * (`fetch`, `uuidv4`, `console`) is given to it by the test that runs it.
 */
export const PRINTED_PROGRAMS = {
  "002-client-handling.txt": "Client Handling",
  "002-implementation-example.txt": "Client Tool Invocation › Implementation Example",
  "002-client-side.txt": "Client-Side (TypeScript)",
  // Two lines that could never run and declare a second `error`, which no parser accepts, are left out.
  "002-client.txt": "Client (TypeScript)",
} as const;

export type PrintedProgram = keyof typeof PRINTED_PROGRAMS;

/** The text of a file in this folder. */
export function printedText(name: string): string {
  return readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
}

/** Runs a printed program and returns what it declares under these names. `scope`: what it uses but does not define. */
export function runPrinted<Name extends string>(
  program: PrintedProgram,
  names: readonly Name[],
  scope: Readonly<Record<string, unknown>>,
): Record<Name, any> {
  const text = `${printedText(program)}\nreturn { ${names.join(", ")} };`;
  // The text is the body of a function, so that `return` is allowed only once it is wrapped in one.
  const wrapped = `(function () { ${text} })`;
  const code = stripTypeScriptTypes(wrapped, { mode: "transform" });
  const made = compileFunction(`return ${code}`, Object.keys(scope), { filename: program });
  return made(...Object.values(scope))();
}

/** A `fetch` for programs that call a path of their own page, or the host of an example. */
export function fetchFrom(url: string): typeof fetch {
  return (input, init) => {
    const { pathname } = new URL(String(input), "https://agent.example.com");
    return fetch(`${url}${pathname}`, init);
  };
}

/** A `console` that keeps what is logged. */
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
