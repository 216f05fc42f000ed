import { palaverDurable } from "../contenders.ts";
import { milliseconds, plain, spread } from "../format.ts";
import { pacedCalls } from "../load/paced-calls.ts";
import type { Bench, Outcome, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { median, percentile, ratios, summarize } from "../statistics.ts";

/** One caller sends ten times its rate limit; another caller within its limit must hardly notice. */
export const flooded: Scenario = {
  name: "flood",
  title: "one caller at 10× its limit, and another",
  limitSeconds: [120, 45],
  run,
};

const LIMIT = { requests: 100, seconds: 1 };
const FLOOD_PER_SECOND = LIMIT.requests * 10;
const POLITE_PER_SECOND = 40;

interface Round {
  readonly p95: number;
  readonly passed: number;
  readonly refused: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const seconds = bench.quick ? 3 : 6;
  const server = await bench.start(palaverDurable(bench, { rateLimit: LIMIT }));
  await measure(bench, server, { seconds: 2, flood: true });
  const idle: Round[] = [];
  const busy: Round[] = [];
  for (let round = 0; round < bench.runs; round += 1) {
    bench.progress(`round ${round + 1} of ${bench.runs}: alone, then during the flood`);
    idle.push(await measure(bench, server, { seconds, flood: false }));
    busy.push(await measure(bench, server, { seconds, flood: true }));
  }
  const ratio = summarize(
    ratios(
      busy.map(({ p95 }) => p95),
      idle.map(({ p95 }) => p95),
    ),
  );
  const most = LIMIT.requests + LIMIT.requests * seconds;
  const passed = Math.max(...busy.map((round) => round.passed));
  return {
    rows: [
      {
        work: "the other caller's p95, beside the flood ÷ alone",
        limit: "≤ 2",
        figure: plain(ratio.median),
        ...spread(ratio, plain),
        ok: ratio.median <= 2,
      },
      { work: "p95 alone", figure: milliseconds(median(idle.map(({ p95 }) => p95))) },
      { work: "p95 beside the flood", figure: milliseconds(median(busy.map(({ p95 }) => p95))) },
      {
        work: `passed of the flood in ${seconds} s, most of all rounds`,
        limit: `≤ ${most} (limit and refill)`,
        figure: passed.toLocaleString("en"),
        ok: passed <= most,
      },
    ],
    notes: [
      `The flood: ${FLOOD_PER_SECOND.toLocaleString("en")} sends a second of a caller who may send ${LIMIT.requests}; refused with 429: ${median(
        busy.map((round) => round.refused),
      ).toLocaleString("en")} a round. The other caller: ${POLITE_PER_SECOND} sends a second.`,
    ],
    data: { idle, busy },
  };
}

async function measure(
  bench: Bench,
  { port }: ServerProcess,
  { seconds, flood }: { readonly seconds: number; readonly flood: boolean },
): Promise<Round> {
  const { signal } = bench;
  const [polite, flooding] = await Promise.all([
    pacedCalls({ port, seconds, perSecond: POLITE_PER_SECOND, caller: "polite", signal }),
    flood ? pacedCalls({ port, seconds, perSecond: FLOOD_PER_SECOND, caller: "flood", signal }) : undefined,
  ]);
  if (polite.refused > 0) throw new Error(`${polite.refused} calls of the caller within its limit were refused.`);
  return {
    p95: percentile(polite.latencies, 0.95),
    passed: flooding?.latencies.length ?? 0,
    refused: flooding?.refused ?? 0,
  };
}
