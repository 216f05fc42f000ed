import { type BaseClone, cloneBase } from "./base-clone.ts";
import { runCommand } from "./command.ts";
import { ECHO, type Figures, type Measured, palaverDurable } from "./contenders.ts";
import { plain, rate, spread } from "./format.ts";
import type { MeasuredLoad } from "./load/request-costs.ts";
import { COMPARE_USAGE, readCompareOptions } from "./options.ts";
import type { Result } from "./report.ts";
import type { Bench, Outcome, Row, Scenario } from "./scenario.ts";
import { blockingSend, measureSends } from "./scenarios/blocking-send.ts";
import { getTask, measureGets } from "./scenarios/get-task.ts";
import { measureStreams, streamEvents } from "./scenarios/stream-events.ts";
import type { ServerSpec } from "./server-process.ts";
import { ratios, summarize } from "./statistics.ts";
import { judge } from "./verdict.ts";

const NOW = "working tree";

/** One kind of work, done by an earlier commit and by the working tree in turn. */
interface Comparison {
  readonly scenario: Scenario;
  /** Whether the raw echo can do the same work: then the ratio to it is compared. */
  readonly echoes: boolean;
  measure(bench: Bench, specs: readonly ServerSpec[]): Promise<Measured & Partial<MeasuredLoad>>;
}

const COMPARISONS: readonly Comparison[] = [
  { scenario: blockingSend, echoes: true, measure: measureSends },
  { scenario: getTask, echoes: true, measure: measureGets },
  { scenario: streamEvents, echoes: false, measure: measureStreams },
];

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.exitCode = await runCommand(
  {
    usage: COMPARE_USAGE,
    read: readCompareOptions,
    scenarios({ base }) {
      const clone = cloneBase(base);
      return COMPARISONS.map((comparison) => ({
        ...comparison.scenario,
        run: (bench: Bench) => compare(bench, comparison, clone),
      }));
    },
    finish: (results) => (results.every(isFine) ? 0 : 1),
  },
  process.argv.slice(2),
);

async function compare(bench: Bench, { echoes, measure }: Comparison, { name, folder }: BaseClone): Promise<Outcome> {
  const before = `commit ${name}`;
  const specs: readonly ServerSpec[] = [
    ...(echoes ? [ECHO] : []),
    { ...palaverDurable(bench), label: before, clone: folder },
    { ...palaverDurable(bench), label: NOW },
  ];
  const { figures, costs, notes } = await measure(bench, specs);
  const absolute = Array.from(figures, ([label, own]): Row => {
    const summary = summarize(own);
    const figure = [rate(summary.median), ...(costs === undefined ? [] : [costs.describe(label)])].join(", ");
    return { work: label, figure, ...spread(summary, rate) };
  });
  return {
    rows: [...comparedRows(figures, before, echoes), ...absolute],
    notes,
    data: Object.fromEntries(figures),
  };
}

function comparedRows(figures: Figures, before: string, echoes: boolean): Row[] {
  const perSecond = (label: string) => figures.get(label) ?? [];
  const toEcho = (label: string) => ratios(perSecond(label), perSecond(ECHO.label));
  const compared = echoes ? toEcho : perSecond;
  const { ok, change, reason } = judge(compared(before), compared(NOW));
  const percent = `${change < 0 ? "−" : "+"}${plain(Math.abs(change) * 100)} %`;
  const verdict: Row = {
    work: `${NOW} against ${before}`,
    limit: "≥ −5 %, or within the spread",
    figure: `${percent}: ${reason}`,
    ok,
  };
  if (!echoes) return [verdict];
  const ratioRow = (label: string): Row => {
    const summary = summarize(toEcho(label));
    return { work: `${label} ÷ raw echo`, figure: plain(summary.median), ...spread(summary, plain) };
  };
  return [ratioRow(before), ratioRow(NOW), verdict];
}

function isFine({ outcome }: Result): boolean {
  return !("failure" in outcome) && outcome.rows.every(({ ok }) => ok !== false);
}
