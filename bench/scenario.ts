import type { ServerProcess, ServerSpec } from "./server-process.ts";

/** One line of the result: the limit and the figure. */
export interface Row {
  readonly work: string;
  /** The limit as text; absent: the row is for comparison only. */
  readonly limit?: string;
  readonly figure: string;
  /** Smallest to largest of the runs. */
  readonly spread?: string;
  /** Absent: there is no limit, or it could not be measured. */
  readonly ok?: boolean;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** Notes that a reader needs to judge the rows. */
  readonly notes: readonly string[];
  /** All figures, for `--json`. */
  readonly data: object;
  /** SVG images by file name, which `--write` puts beside the results. Absent: none. */
  readonly pictures?: Readonly<Record<string, string>>;
}

export interface Scenario {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  /** Time limit in seconds: default and with `--quick`. */
  readonly limitSeconds: readonly [usual: number, quick: number];
  run(bench: Bench): Promise<Outcome>;
}

/** The tools of a scenario. Its servers and files are removed when it ends, however it ends. */
export interface Bench {
  readonly quick: boolean;
  readonly runs: number;
  /** Aborts when the scenario's time is over. */
  readonly signal: AbortSignal;
  /** Creates a new empty folder on disk. */
  folder(): string;
  /** Starts a server in its own process. */
  start(spec: ServerSpec): Promise<ServerProcess>;
  /** Prints the progress. */
  progress(text: string): void;
}

/** A scenario cannot be measured; the message says what is missing. */
export class NotMeasurable extends Error {
  override readonly name = "NotMeasurable";
}
