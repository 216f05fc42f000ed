import { CHAOS_USAGE, type ChaosOptions, readChaosOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { runChaos } from "./run.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: ChaosOptions;
  try {
    options = readChaosOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nSee npm run chaos -- --help.\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(CHAOS_USAGE);
    return 0;
  }
  const result = await runChaos(options, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write(reportOf(result));
  return result.failures.length === 0 ? 0 : 1;
}
