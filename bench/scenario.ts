import type { ServerProcess, ServerSpec } from "./server-process.ts";

/** One line of the result: what was asked for, what was measured. */
export interface Row {
  readonly work: string;
  /** The limit in words; absent: only for comparison. */
  readonly limit?: string;
  readonly figure: string;
  /** Smallest to largest of the runs. */
  readonly spread?: string;
  /** Absent: there is no limit, or it could not be measured. */
  readonly ok?: boolean;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** What a reader must know to judge the rows. */
  readonly notes: readonly string[];
  /** Everything measured, for `--json`. */
  readonly data: object;
}

export interface Scenario {
  /** What `--only` matches. */
  readonly name: string;
  readonly title: string;
  /** Seconds after which it is given up: default and with `--quick`. */
  readonly limitSeconds: readonly [usual: number, quick: number];
  run(bench: Bench): Promise<Outcome>;
}

/** What a scenario works with. Servers and files it made are gone when it ends, however it ends. */
export interface Bench {
  readonly quick: boolean;
  readonly runs: number;
  /** Aborts when the scenario's time is over. */
  readonly signal: AbortSignal;
  /** A new empty folder on disk. */
  folder(): string;
  /** Starts a server in a process of its own. */
  start(spec: ServerSpec): Promise<ServerProcess>;
  /** Tells whoever waits what is going on. */
  progress(text: string): void;
}

/** A scenario has nothing to measure with; the message says what is missing. */
export class NotMeasurable extends Error {
  override readonly name = "NotMeasurable";
}
