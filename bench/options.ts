import { parseArgs } from "node:util";

/** How scenarios run. */
export interface RunOptions {
  /** Fewer and shorter runs and smaller databases, for a quick check. */
  readonly quick: boolean;
  /** Only scenarios whose name contains one of these. Empty: all. */
  readonly only: readonly string[];
  /** Number of alternating rounds per measurement. */
  readonly runs: number;
  /** The folder for databases; absent: the system's temporary folder, unless that is in memory. */
  readonly dir: string | undefined;
  /** Write a CPU profile of every server process into this folder. Slows the servers down. */
  readonly profile: string | undefined;
  readonly help: boolean;
}

export interface BenchOptions extends RunOptions {
  /** Rewrite `bench/RESULTS.md`. */
  readonly write: boolean;
  /** Write all figures to this file. */
  readonly json: string | undefined;
}

export interface CompareOptions extends RunOptions {
  /** The commit to compare with; absent: the parent commit of the working tree. */
  readonly base: string | undefined;
  /** Measure both at the same time instead of in turn. */
  readonly together: boolean;
}

const RUN_USAGE = `  --quick        fewer, shorter runs and smaller databases
  --only NAME    run only scenarios whose name contains NAME (may be repeated)
  --runs N       alternating rounds per measurement (default 5, quick 3)
  --dir DIR      put the databases into DIR (must be on a real disk, otherwise durable figures are meaningless)
  --profile DIR  write a CPU profile of every server into DIR (this slows the servers down)
  --help         print this text
`;

export const BENCH_USAGE: string = `npm run bench -- [options]

  --write        write the figures to bench/RESULTS.md
  --json FILE    write all figures to FILE as JSON
${RUN_USAGE}`;

export const COMPARE_USAGE: string = `npm run bench:compare -- [options]

  --base REF     the commit to compare with (default: the last commit; if nothing changed since, the one before)
  --together     measure both at the same time instead of in turn, for a machine with other work
${RUN_USAGE}`;

const RUN_FLAGS = {
  quick: { type: "boolean", default: false },
  only: { type: "string", multiple: true },
  runs: { type: "string" },
  dir: { type: "string" },
  profile: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Throws a `TypeError` that describes the invalid option. */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const flags = { ...RUN_FLAGS, write: { type: "boolean", default: false }, json: { type: "string" } } as const;
  const { values } = parseArgs({ args: [...args], options: flags });
  return { ...runOptions(values), write: values.write, json: values.json };
}

/** Throws a `TypeError` that describes the invalid option. */
export function readCompareOptions(args: readonly string[]): CompareOptions {
  const flags = { ...RUN_FLAGS, base: { type: "string" }, together: { type: "boolean", default: false } } as const;
  const { values } = parseArgs({ args: [...args], options: flags });
  return { ...runOptions(values), base: values.base, together: values.together };
}

interface RunFlags {
  readonly quick: boolean;
  readonly only?: readonly string[];
  readonly runs?: string;
  readonly dir?: string;
  readonly profile?: string;
  readonly help: boolean;
}

function runOptions({ quick, only = [], help, ...flags }: RunFlags): RunOptions {
  const runs = flags.runs === undefined ? (quick ? 3 : 5) : Number(flags.runs);
  if (!Number.isInteger(runs) || runs < 1 || runs > 100)
    throw new TypeError("--runs must be an integer from 1 to 100.");
  return { quick, only, runs, dir: flags.dir, profile: flags.profile, help };
}
