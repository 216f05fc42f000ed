import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describeMachine } from "./machine.ts";
import { type BenchOptions, readOptions, USAGE } from "./options.ts";
import { markdownResult, printResult, type Result, summaryLine } from "./report.ts";
import { runScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/all.ts";
import { createWorkFolder, isOnDisk } from "./work-folder.ts";

const RESULTS = fileURLToPath(new URL("RESULTS.md", import.meta.url));

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = optionsOrComplaint(args);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chosen = SCENARIOS.filter(({ name }) => isChosen(name, options.only));
  if (chosen.length === 0) {
    process.stderr.write(`No scenario is called that. There are: ${SCENARIOS.map(({ name }) => name).join(", ")}\n`);
    return 2;
  }
  await runAll(chosen, options);
  return 0;
}

function optionsOrComplaint(args: readonly string[]): BenchOptions | string {
  try {
    return readOptions(args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isChosen(name: string, only: readonly string[]): boolean {
  return (
    only.length === 0 ||
    only.some((wanted) => name === wanted || (!SCENARIOS.some((one) => one.name === wanted) && name.includes(wanted)))
  );
}

async function runAll(chosen: readonly Scenario[], options: BenchOptions): Promise<void> {
  const command = commandOf(options);
  const began = performance.now();
  const folder = createWorkFolder(options.dir);
  process.stdout.write(`${describeMachine()}\n\n`);
  if (!isOnDisk(folder))
    process.stdout.write("The databases are kept in memory: durable figures mean nothing here (--dir).\n\n");
  const results: Result[] = [];
  for (const scenario of chosen) {
    process.stderr.write(`${scenario.title}…\n`);
    const result = await runScenario(scenario, options, folder);
    results.push(result);
    process.stdout.write(`${printResult(result)}\n`);
  }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  process.stdout.write(`${summaryLine(results)} (${minutes} minutes)\n`);
  if (options.json !== undefined) writeFileSync(options.json, jsonReport(results, command));
  if (options.write) writeFileSync(RESULTS, markdownReport(results, command));
}

/** What repeats the measurement; where files went is nobody else's concern. */
function commandOf({ quick, only, runs }: BenchOptions): string {
  const flags = [quick ? ["--quick"] : [], ...only.map((name) => ["--only", name]), ["--runs", String(runs)]].flat();
  return `npm run bench -- ${flags.join(" ")}`;
}

function jsonReport(results: readonly Result[], command: string): string {
  const scenarios = results.map(({ scenario, outcome, seconds }) => ({ name: scenario.name, seconds, ...outcome }));
  return `${JSON.stringify({ date: new Date().toISOString(), machine: describeMachine(), command, scenarios }, undefined, 2)}\n`;
}

function markdownReport(results: readonly Result[], command: string): string {
  const facts = [
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${describeMachine()}`,
    `- Command: \`${command}\``,
    `- Result: ${summaryLine(results)}`,
  ];
  const intro =
    "Servers run in processes of their own and are measured in turn; figures are medians, ratios are made round by round.";
  return `${["# Bench results", "", ...facts, "", intro, "", ...results.map(markdownResult)].join("\n").trimEnd()}\n`;
}
