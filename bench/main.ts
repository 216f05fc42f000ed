import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  if (options.write) {
    writeFileSync(RESULTS, markdownReport(results, command));
    for (const { outcome } of results)
      for (const [name, picture] of Object.entries("pictures" in outcome ? (outcome.pictures ?? {}) : {}))
        writeFileSync(join(dirname(RESULTS), name), picture);
  }
  return 0;
}

/** The command that repeats the measurement, without the options for output files. */
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
    "Each server runs in its own process, and servers are measured in turn. Figures are medians; ratios are computed per round.";
  return `${["# Bench results", "", ...facts, "", intro, "", ...results.map(markdownResult)].join("\n").trimEnd()}\n`;
}
