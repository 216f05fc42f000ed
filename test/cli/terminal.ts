import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CliContext } from "../../src/cli/context.ts";
import { runProgram } from "../../src/cli/program.ts";
import { programName } from "../../src/cli/program-name.ts";
import { remoteConnect } from "../../src/cli/session/remote-connect.ts";

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Standard error is a terminal. */
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
  /** Called with the standard output so far, whenever there is more. */
  readonly onOutput?: (stdout: string) => void | Promise<void>;
  readonly context?: Partial<CliContext>;
}

/** Runs commands in this process, with a temporary home and working folder. */
export class Terminal {
  /** Home and working folder in one, while the terminal is open. */
  folder = "";
  certificatesTrusted = 0;

  /** Creates a new empty folder. */
  open(): void {
    this.folder = mkdtempSync(join(tmpdir(), "palaver-terminal-"));
    this.certificatesTrusted = 0;
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
    const output = { stdout: "", stderr: "" };
    const { env = {}, stdin = "", isTTY = false, signal, onOutput } = options;
    const code = await runProgram(argv, {
      connect: remoteConnect,
      program: programName(env),
      env,
      stdin: (async function* () {
        yield stdin;
      })(),
      stdout: {
        isTTY: false,
        async write(text) {
          output.stdout += text;
          await onOutput?.(output.stdout);
        },
      },
      stderr: {
        isTTY,
        async write(text) {
          output.stderr += text;
        },
      },
      cwd: this.folder,
      home: this.folder,
      now: Date.now,
      sleep: async (milliseconds, stop) => {
        await delay(milliseconds, undefined, { signal: stop });
      },
      fetch: (input, init) => fetch(input, init),
      trustAllCertificates: () => {
        this.certificatesTrusted++;
      },
      signal: signal ?? new AbortController().signal,
      ...options.context,
    });
    return { code, ...output };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The fields of text output by label; the last of repeated labels. Blocks are skipped. */
export function fieldsOf(text: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  let inBlock = false;
  for (const line of text.split("\n")) {
    if (inBlock) inBlock = line !== "";
    else if (/^[\w ]+:$/.test(line)) inBlock = true;
    else {
      const [, label, value] = /^([\w -]+): (.*)$/.exec(line) ?? [];
      if (label !== undefined && value !== undefined) fields[label] = value;
    }
  }
  return fields;
}

/** The JSON objects of a text with one object per line. */
export function linesOf(text: string): readonly any[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
