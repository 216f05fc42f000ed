import { type BaseClone, cloneBase } from "./base-clone.ts";
import { runCommand } from "./command.ts";
import { palaverDurable } from "./contenders.ts";
import { costRow, factorOf } from "./cpu/cpu-rows.ts";
import { measureCpu } from "./cpu/measure-cpu.ts";
import { CPU_WORK, type CpuWork } from "./cpu/work.ts";
import { plain } from "./format.ts";
import { COMPARE_USAGE, readCompareOptions } from "./options.ts";
import type { Result } from "./report.ts";
import type { Bench, Outcome, Row, Scenario } from "./scenario.ts";
import type { ServerSpec } from "./server-process.ts";
import { judge } from "./verdict.ts";

const NOW = "working tree";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await runCommand(
  {
    usage: COMPARE_USAGE,
    read: readCompareOptions,
    scenarios({ base, together }) {
      const clone = cloneBase(base);
      return CPU_WORK.map(
        (work): Scenario => ({
          name: work.name,
          title: work.title,
          limitSeconds: [900, 240],
          run: (bench) => compare(bench, { work, together, clone }),
        }),
      );
    },
    finish: (results) => (results.every(isFine) ? 0 : 1),
  },
  process.argv.slice(2),
);

interface Comparison {
  readonly work: CpuWork;
  readonly together: boolean;
  readonly clone: BaseClone;
}

/** Measures a durable server of an earlier commit and of the working tree. */
async function compare(bench: Bench, { work, together, clone: { name, folder } }: Comparison): Promise<Outcome> {
  const before = `commit ${name}`;
  const specs: readonly ServerSpec[] = [
    { ...palaverDurable(bench), label: before, clone: folder },
    { ...palaverDurable(bench), label: NOW },
  ];
  const measured = await measureCpu(bench, { work, specs, compared: [NOW, before], together });
  const factor = factorOf(measured, NOW, before);
  const { ok, reason } = judge(factor);
  const [change, low, high] = [factor.factor, factor.low, factor.high].map(percent);
  const verdict: Row = {
    work: `${NOW} against ${before}`,
    limit: "≤ +3 % of processor time",
    figure: `${change} (95 % interval ${low} to ${high}): ${reason}`,
    ok,
  };
  return {
    rows: [verdict, ...[before, NOW].map((label) => costRow(measured, label, work.unit))],
    notes: measured.notes,
    data: Object.fromEntries(measured.costs),
  };
}

function percent(factor: number): string {
  const change = (factor - 1) * 100;
  return `${change < 0 ? "−" : "+"}${plain(Math.abs(change))} %`;
}

function isFine({ outcome }: Result): boolean {
  return !("failure" in outcome) && outcome.rows.every(({ ok }) => ok !== false);
}
