import { describeMachine } from "./machine.ts";
import type { RunOptions } from "./options.ts";
import { printResult, type Result, summaryLine } from "./report.ts";
import { runScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { createWorkFolder, isOnDisk } from "./work-folder.ts";

/** A program that measures scenarios. */
export interface Command<Options extends RunOptions> {
  readonly usage: string;
  /** Throws an error that describes the invalid option. */
  read(args: readonly string[]): Options;
  /** All scenarios; throws if nothing can be measured. */
  scenarios(options: Options): readonly Scenario[];
  /** Processes the printed results; resolves with the exit code. */
  finish(results: readonly Result[], options: Options): number;
}

/** Runs the selected scenarios of a command and prints their results. Resolves with the exit code. */
export async function runCommand<Options extends RunOptions>(
  command: Command<Options>,
  args: readonly string[],
): Promise<number> {
  const options = orComplaint(() => command.read(args));
  if (typeof options === "string") return complain(`${options}\n\n${command.usage}`);
  if (options.help) {
    process.stdout.write(command.usage);
    return 0;
  }
  const scenarios = orComplaint(() => command.scenarios(options));
  if (typeof scenarios === "string") return complain(`${scenarios}\n`);
  const names = scenarios.map(({ name }) => name);
  const chosen = scenarios.filter(({ name }) => isChosen(name, names, options.only));
  if (chosen.length === 0) return complain(`No scenario has that name. Scenarios: ${names.join(", ")}\n`);
  return command.finish(await runAll(chosen, options), options);
}

function orComplaint<T extends object>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function complain(text: string): number {
  process.stderr.write(text);
  return 2;
}

function isChosen(name: string, names: readonly string[], only: readonly string[]): boolean {
  return (
    only.length === 0 || only.some((wanted) => name === wanted || (!names.includes(wanted) && name.includes(wanted)))
  );
}

async function runAll(chosen: readonly Scenario[], options: RunOptions): Promise<Result[]> {
  const began = performance.now();
  const folder = createWorkFolder(options.dir);
  process.stdout.write(`${describeMachine()}\n\n`);
  if (!isOnDisk(folder))
    process.stdout.write(
      "The databases are in a memory file system, so durable figures are meaningless here (use --dir).\n\n",
    );
  const results: Result[] = [];
  for (const scenario of chosen) {
    process.stderr.write(`${scenario.title}…\n`);
    const result = await runScenario(scenario, options, folder);
    results.push(result);
    process.stdout.write(`${printResult(result)}\n`);
  }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  process.stdout.write(`${summaryLine(results)} (${minutes} minutes)\n`);
  return results;
}
