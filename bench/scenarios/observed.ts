import { join } from "node:path";
import { palaverOn } from "../contenders.ts";
import { spread } from "../format.ts";
import type { MeasuredLoad } from "../load/request-costs.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerSpec } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";
import { measureSends } from "./blocking-send.ts";
import { measureGets } from "./get-task.ts";

/** The processor time of sends and gets with metrics, and with a request log, compared with neither. */
export const observed: Scenario = {
  name: "observed",
  title: "Metrics and request log",
  limitSeconds: [1200, 900],
  run,
};

const OFF = "without metrics";
const METRICS = "with metrics";
const LOGGED = "with metrics and request log";
/** The most processor time that metrics may cost. */
const MOST = 1.03;

async function run(bench: Bench): Promise<Outcome> {
  const sends = await measureSends(bench, specs(bench));
  const gets = await measureGets(bench, specs(bench));
  return {
    rows: [...rowsOf("send", sends), ...rowsOf("get", gets)],
    notes: [
      ...sends.notes,
      "Each row is processor time, all threads together, divided by that of the same round without metrics.",
    ],
    data: { sends: sends.costs.all(), gets: gets.costs.all() },
  };
}

function specs(bench: Bench): readonly ServerSpec[] {
  const database = (): string => join(bench.folder(), "palaver.db");
  return [
    { ...palaverOn(database(), { metrics: false }), label: OFF },
    { ...palaverOn(database(), { metrics: true }), label: METRICS },
    { ...palaverOn(database(), { metrics: true, requestLog: true }), label: LOGGED },
  ];
}

function rowsOf(work: string, { costs }: MeasuredLoad): readonly Row[] {
  const all = costs.all();
  return [METRICS, LOGGED].map((label) => {
    const ratio = summarize(ratios(all[label] ?? [], all[OFF] ?? []));
    const row: Row = {
      work: `${work}, ${label}`,
      figure: `${ratio.median.toFixed(3)} (${costs.describe(label)}, ${costs.describe(OFF)} without)`,
      ...spread(ratio, (value) => value.toFixed(3)),
    };
    return label === METRICS ? { ...row, limit: `≤ ${MOST}`, ok: ratio.median <= MOST } : row;
  });
}
