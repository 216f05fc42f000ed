import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runCommand } from "./command.ts";
import { describeMachine } from "./machine.ts";
import { BENCH_USAGE, type BenchOptions, readBenchOptions } from "./options.ts";
import { markdownResult, type Result, summaryLine } from "./report.ts";
import { SCENARIOS } from "./scenarios/all.ts";

const RESULTS = fileURLToPath(new URL("RESULTS.md", import.meta.url));

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
const bench = { usage: BENCH_USAGE, read: readBenchOptions, scenarios: () => SCENARIOS, finish };
process.exitCode = await runCommand(bench, process.argv.slice(2));

function finish(results: readonly Result[], options: BenchOptions): number {
  const command = commandOf(options);
  if (options.json !== undefined) writeFileSync(options.json, jsonReport(results, command));
  if (options.write) writeFileSync(RESULTS, markdownReport(results, command));
  return 0;
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
