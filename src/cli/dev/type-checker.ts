import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface TypeCheckerOptions {
  /** The folder of the project. */
  readonly folder: string;
  /** Writes lines for the user. */
  readonly note: (text: string) => void;
}

/** Checks the types of a project beside its server. */
export interface TypeChecker {
  /** Stops a check that still runs, and starts another one. */
  check(): void;
  close(): void;
}

/** Errors that are shown; the rest is counted. */
const MAX_ERRORS = 10;

/**
 * Runs the project's own TypeScript compiler, which Node does not need and therefore does not do. Notes errors with file and line, and once that there are none any more.
 * `undefined`: the project has no `tsconfig.json` or no compiler.
 */
export function createTypeChecker({ folder, note }: TypeCheckerOptions): TypeChecker | undefined {
  const compiler = compilerOf(folder);
  if (compiler === undefined) return undefined;
  let running: ChildProcess | undefined;
  let hadErrors = false;
  return {
    check() {
      running?.kill("SIGKILL");
      const child = spawn(process.execPath, [compiler, "--noEmit", "--pretty", "false"], {
        cwd: folder,
        stdio: ["ignore", "pipe", "ignore"],
      });
      running = child;
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
      child.on("error", () => undefined);
      child.once("close", (code) => {
        if (child !== running) return;
        running = undefined;
        if (code === null) return;
        const errors = output.split("\n").filter((line) => /: error TS\d+/.test(line));
        for (const line of errors.slice(0, MAX_ERRORS)) note(readable(line));
        if (errors.length > MAX_ERRORS) note(`… and ${errors.length - MAX_ERRORS} more type errors.`);
        if (errors.length === 0 && hadErrors) note("The types are correct again.");
        hadErrors = errors.length > 0;
      });
    },
    close() {
      running?.kill("SIGKILL");
    },
  };
}

/** `agent.ts(3,5): error TS2322: Type …` becomes `agent.ts:3:5 type error: Type … (TS2322)`, which terminals and editors can open. */
function readable(line: string): string {
  return line.replace(/^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/, "$1:$2:$3 type error: $5 ($4)");
}

function compilerOf(folder: string): string | undefined {
  if (!existsSync(join(folder, "tsconfig.json"))) return undefined;
  try {
    const manifest = createRequire(join(folder, "package.json")).resolve("typescript/package.json");
    const compiler = join(dirname(manifest), "bin", "tsc");
    return existsSync(compiler) ? compiler : undefined;
  } catch {
    return undefined;
  }
}
