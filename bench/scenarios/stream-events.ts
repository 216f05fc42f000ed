import {
  alternate,
  type Figures,
  type Measured,
  PALAVER_MEMORY,
  palaverDurable,
  SDK_MEMORY,
  sdkDatabase,
  startAll,
} from "../contenders.ts";
import { rate, spread, times } from "../format.ts";
import { checkStream, streamFor } from "../load/fast-streams.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerSpec } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";

/** Sixteen concurrent callers, each with a stream of a hundred chunks. */
export const streamEvents: Scenario = {
  name: "stream",
  title: "16 streams × 100 chunks",
  limitSeconds: [180, 60],
  run,
};

async function run(bench: Bench): Promise<Outcome> {
  const specs = [palaverDurable(bench), PALAVER_MEMORY, SDK_MEMORY, sdkDatabase(bench)];
  const { figures, notes } = await measureStreams(bench, specs);
  return {
    rows: [
      ratioRow(figures, "Palaver durable", 30),
      ratioRow(figures, PALAVER_MEMORY.label),
      ...Array.from(figures.keys(), (label) => absoluteRow(figures, label)),
    ],
    notes,
    data: Object.fromEntries(figures),
  };
}

/** Measures the events per second of each server. */
async function measureStreams(bench: Bench, specs: readonly ServerSpec[]): Promise<Measured> {
  const seconds = bench.quick ? 1 : 3;
  const { servers, notes } = await startAll(bench, specs);
  for (const server of servers) {
    await checkStream(bench, server);
    bench.progress(`warming up ${server.label}`);
    await streamFor(bench, server, bench.quick ? 1 : 2);
  }
  const figures = await alternate(
    bench,
    servers,
    async (server) => (await streamFor(bench, server, seconds)).perSecond,
  );
  return {
    figures,
    notes: [`Events the callers received per second; ${bench.runs} alternated runs of ${seconds} s.`, ...notes],
  };
}

function ratioRow(figures: Figures, label: string, limit?: number): Row {
  const summary = summarize(ratios(figures.get(label) ?? [], figures.get(SDK_MEMORY.label) ?? []));
  const row: Row = { work: `${label} ÷ SDK in memory`, figure: times(summary.median), ...spread(summary, times) };
  return limit === undefined ? row : { ...row, limit: `≥ ${limit}× (then 40×)`, ok: summary.median >= limit };
}

function absoluteRow(figures: Figures, label: string): Row {
  const summary = summarize(figures.get(label) ?? []);
  return { work: label, figure: rate(summary.median), ...spread(summary, rate) };
}
