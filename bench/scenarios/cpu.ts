import { PALAVER_MEMORY, palaverDurable, SDK_MEMORY, sdkDatabase } from "../contenders.ts";
import { costRow, factorOf, factorText } from "../cpu/cpu-rows.ts";
import { measureCpu } from "../cpu/measure-cpu.ts";
import { CPU_WORK, type CpuWork } from "../cpu/work.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";

const DURABLE = "Palaver durable";

/** Processor time per operation by thread, next to a server over bare `node:http`. */
export const CPU_SCENARIOS: readonly Scenario[] = CPU_WORK.map((work) => ({
  name: `cpu-${work.name}`,
  title: `Processor time: ${work.title}`,
  limitSeconds: [900, 240],
  run: (bench) => run(bench, work),
}));

async function run(bench: Bench, work: CpuWork): Promise<Outcome> {
  const own = [palaverDurable(bench), PALAVER_MEMORY];
  // The SDK cannot keep up with paced streams, and its gets read one task from memory.
  const sdk = work.name === "send" || work.name === "stream" ? [SDK_MEMORY, sdkDatabase(bench)] : [];
  const specs = [work.bare, ...own, ...sdk];
  const measured = await measureCpu(bench, { work, specs, compared: [DURABLE, work.bare.label] });
  const ratioRow = (label: string): Row => {
    const factor = factorOf(measured, label, work.bare.label);
    const row = { work: `${label} ÷ ${work.bare.label}`, figure: factorText(factor) };
    if (label !== DURABLE || work.limit === undefined) return row;
    return { ...row, limit: `≤ ${work.limit}×`, ok: factor.factor <= work.limit };
  };
  const labels = [...measured.costs.keys()];
  return {
    rows: [
      ...labels.filter((label) => label !== work.bare.label).map(ratioRow),
      ...labels.map((label) => costRow(measured, label, work.unit)),
    ],
    notes: measured.notes,
    data: Object.fromEntries(measured.costs),
  };
}
