import { readSoakOptions, SOAK_USAGE, type SoakOptions } from "./options.ts";
import { runSoak } from "./run.ts";
import { type Verdict, verdictsOf } from "./verdict.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: SoakOptions;
  try {
    options = readSoakOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nSee npm run soak -- --help.\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(SOAK_USAGE);
    return 0;
  }
  const samples = await runSoak(options, (line) => process.stdout.write(`${line}\n`));
  const verdicts = verdictsOf(samples);
  process.stdout.write(`\n${verdicts.map(lineOf).join("\n")}\n`);
  return verdicts.some(({ grew }) => grew) ? 1 : 0;
}

function lineOf({ measure, before, after, allowed, grew }: Verdict): string {
  const unit = measure === "files" || measure === "loopDelay" ? 1 : 1024 * 1024;
  const of = (value: number): string => (value / unit).toFixed(1);
  const name = unit === 1 ? measure : `${measure} (MB)`;
  return `${grew ? "GREW" : "ok  "}  ${name.padEnd(12)} median ${of(before)} in the second quarter, ${of(after)} in the last; allowed growth ${of(allowed)}`;
}
