import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { AgentDefinition } from "../../engine/agent/agent.ts";
import { defaultStateFolder } from "./children/process-records.ts";

/** How a program and its agent exchange text: `text` is plain text, `jsonl` is one JSON object per line. */
export const PROCESS_PROTOCOLS = ["text", "jsonl"] as const;
/** How a program and its agent communicate: lines of text, or one JSON object per line. */
export type ProcessProtocol = (typeof PROCESS_PROTOCOLS)[number];

/** The program of an agent, and how to run it. */
export interface ProcessOptions {
  /** The program: a path, or a name that is looked up in `PATH`. No shell is involved. */
  readonly command: string;
  /** The arguments of the program, passed as they are. Default: none. */
  readonly args?: readonly string[];
  /** The working directory of the program, and the folder that `file` lines may name. Default: the current directory. */
  readonly cwd?: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of the server's environment variables that the program gets. Default: {@link INHERITED}. */
  readonly inherit?: readonly string[];
  /** Default `text`. */
  readonly protocol?: ProcessProtocol;
  /** Milliseconds between SIGTERM and SIGKILL when the task is canceled or times out. Default 3000. */
  readonly grace?: number;
  /** Bytes of memory (address space) of each process. Needs the program `prlimit` of Linux. Default: no limit. */
  readonly memory?: number;
  /** Seconds of processor time of each process. Needs the program `prlimit` of Linux. Default: no limit. */
  readonly cpuSeconds?: number;
  /** Bytes of standard output of one task. Above it the task fails with `process-output-too-large`. Default 16 MB. */
  readonly maxOutput?: number;
  /** Bytes of one line of the protocol `jsonl`. Above it the task fails with `process-line-too-long`. Default 1 MB. */
  readonly maxLine?: number;
  /** Bytes of a file that a `file` line names. Above it the task fails with `process-file-too-large`. Default 8 MB. */
  readonly maxFile?: number;
  /**
   * The folder that lists the running processes, so that the next start can end those of a server that was killed. Servers may share it. Default:
   * `palaver/processes` in the user's state folder (`$XDG_STATE_HOME` or `~/.local/state`).
   */
  readonly stateFolder?: string;
}

/** An agent whose work is done by a program. */
export interface ProcessAgentOptions
  extends Omit<AgentDefinition, "run" | "reply" | "route" | "description" | "version">,
    ProcessOptions {
  /** Default: the name. */
  readonly description?: string;
  /** Default `1`. */
  readonly version?: string;
}

/** The environment variables that programs get by default: they contain no secrets. */
export const INHERITED: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM"],
  ...["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"],
];

/** The validated options. */
export interface ProcessSettings {
  /** The program that is started: the command itself, or `prlimit`, which replaces itself by the command. */
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute, without symbolic links. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inherit: readonly string[];
  readonly protocol: ProcessProtocol;
  readonly grace: number;
  readonly maxOutput: number;
  readonly maxLine: number;
  readonly maxFile: number;
  readonly stateFolder: string;
}

const DEFAULTS = { grace: 3000, maxOutput: 16 * 2 ** 20, maxLine: 2 ** 20, maxFile: 8 * 2 ** 20 };

/** Validates the options and finds the program. Throws a `TypeError` that says what to fix, and begins with `caller`. */
export function processSettings(options: ProcessOptions, caller = "processAgent()"): ProcessSettings {
  try {
    return checkedSettings(options);
  } catch (error) {
    if (error instanceof InvalidOption) throw new TypeError(`${caller}: ${error.message}`);
    throw error;
  }
}

class InvalidOption extends Error {}

function checkedSettings(options: ProcessOptions): ProcessSettings {
  if (process.platform === "win32") fail("programs cannot be run as agents on Windows, which has no process groups.");
  const { command, args = [], env = {}, inherit = INHERITED, protocol = "text" } = options;
  if (typeof command !== "string" || command === "") fail("`command` must be the name or the path of a program.");
  if (!args.every(isText)) fail("`args` must be a list of strings without null characters.");
  if (!PROCESS_PROTOCOLS.includes(protocol)) fail(`\`protocol\` must be one of ${PROCESS_PROTOCOLS.join(", ")}.`);
  for (const [name, value] of Object.entries(env)) {
    if (!/^[^=\0]+$/.test(name) || !isText(value)) fail(`\`env\` has an invalid variable ${JSON.stringify(name)}.`);
  }
  const cwd = folderOf(options.cwd ?? ".");
  const path = env["PATH"] ?? process.env["PATH"] ?? "";
  const program = findProgram(command, { cwd, path });
  if (program === undefined) fail(`the program ${JSON.stringify(command)} was not found, or may not be executed.`);
  return {
    ...limited({ program, args }, options),
    cwd,
    env,
    inherit,
    protocol,
    grace: wholeNumber("grace", options.grace ?? DEFAULTS.grace, 0),
    maxOutput: wholeNumber("maxOutput", options.maxOutput ?? DEFAULTS.maxOutput),
    maxLine: wholeNumber("maxLine", options.maxLine ?? DEFAULTS.maxLine),
    maxFile: wholeNumber("maxFile", options.maxFile ?? DEFAULTS.maxFile),
    stateFolder: resolve(options.stateFolder ?? defaultStateFolder()),
  };
}

type CommandLine = Pick<ProcessSettings, "program" | "args">;

/** The same command under `prlimit`, which sets the limits and then becomes the command: the process id stays the same. */
function limited(line: CommandLine, { memory, cpuSeconds }: ProcessOptions): CommandLine {
  const flags = [
    ...(memory === undefined ? [] : [`--as=${wholeNumber("memory", memory)}`]),
    ...(cpuSeconds === undefined ? [] : [`--cpu=${wholeNumber("cpuSeconds", cpuSeconds)}`]),
  ];
  if (flags.length === 0) return line;
  const prlimit = findProgram("prlimit", { cwd: "/", path: process.env["PATH"] ?? "" });
  if (prlimit === undefined)
    fail("`memory` and `cpuSeconds` need the program prlimit (package util-linux), which was not found.");
  return { program: prlimit, args: [...flags, "--", line.program, ...line.args] };
}

function findProgram(command: string, at: { readonly cwd: string; readonly path: string }): string | undefined {
  const candidates = command.includes("/")
    ? [isAbsolute(command) ? command : join(at.cwd, command)]
    : at.path.split(delimiter).map((folder) => join(folder || at.cwd, command));
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function folderOf(path: string): string {
  try {
    const folder = realpathSync(path);
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    // Reported below.
  }
  return fail(`\`cwd\` ${JSON.stringify(path)} is not a folder.`);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && !value.includes("\0");
}

function wholeNumber(name: string, value: number, least = 1): number {
  if (!Number.isSafeInteger(value) || value < least) fail(`\`${name}\` must be a whole number of at least ${least}.`);
  return value;
}

function fail(problem: string): never {
  throw new InvalidOption(problem);
}
