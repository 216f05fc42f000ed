import { readNodesOptions } from "./nodes/options.ts";
import { runNodesChaos } from "./nodes/run.ts";
import { CHAOS_USAGE, readChaosOptions } from "./options.ts";
import { reportOf } from "./report.ts";
import { type ChaosResult, runChaos } from "./run.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let run: (say: (line: string) => void) => Promise<ChaosResult>;
  try {
    if (args.some((arg) => /^--(?:nodes|faults)(?:=|$)/.test(arg))) {
      const options = readNodesOptions(args);
      run = (say) => runNodesChaos(options, say);
    } else {
      const options = readChaosOptions(args);
      if (options.help) {
        process.stdout.write(CHAOS_USAGE);
        return 0;
      }
      run = (say) => runChaos(options, say);
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nSee npm run chaos -- --help.\n`);
    return 2;
  }
  const result = await run((line) => process.stdout.write(`${line}\n`));
  process.stdout.write(reportOf(result));
  return result.failures.length === 0 ? 0 : 1;
}
