import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Fewer and shorter runs; smaller databases. For a look, not for the record. */
  readonly quick: boolean;
  /** Only scenarios whose name contains one of these. Empty: all. */
  readonly only: readonly string[];
  /** Alternated rounds of each measurement. */
  readonly runs: number;
  /** Rewrite `bench/RESULTS.md`. */
  readonly write: boolean;
  /** Write everything measured to this file. */
  readonly json: string | undefined;
  /** Where databases go; absent: the system's temporary folder, unless that is not a disk. */
  readonly dir: string | undefined;
  /** Write a CPU profile of every server process into this folder. Slows them down. */
  readonly profile: string | undefined;
  readonly help: boolean;
}

export const USAGE = `npm run bench -- [options]

  --quick        fewer, shorter runs and smaller databases (under 3 minutes)
  --only NAME    only the scenarios whose name contains NAME (may be repeated)
  --runs N       alternated rounds per measurement (default 5, quick 3)
  --write        rewrite bench/RESULTS.md with these figures
  --json FILE    write everything measured to FILE
  --dir DIR      keep the databases in DIR (must be on a real disk to mean anything)
  --profile DIR  write a CPU profile of every server into DIR (figures are then lower)
  --help         this text
`;

/** Throws a `TypeError` that says what is wrong with the command line. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      runs: { type: "string" },
      write: { type: "boolean", default: false },
      json: { type: "string" },
      dir: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const runs = values.runs === undefined ? (values.quick ? 3 : 5) : Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1 || runs > 100) throw new TypeError("--runs must be a number from 1 to 100.");
  return {
    quick: values.quick,
    only: values.only,
    runs,
    write: values.write,
    json: values.json,
    dir: values.dir,
    profile: values.profile,
    help: values.help,
  };
}
