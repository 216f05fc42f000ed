import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { palaverDurable } from "../contenders.ts";
import { interval } from "../cpu/interval.ts";
import { rate, spread } from "../format.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerSpec } from "../server-process.ts";
import type { PalaverConfig } from "../servers/palaver.ts";
import { ratios, summarize } from "../statistics.ts";
import { measureSends } from "./blocking-send.ts";

/**
 * Blocking sends without telemetry, with metrics, and with every call traced to a collector in the bench's own process. What telemetry costs while it is
 * off shows as the difference of two equal servers without it: each place that could be observed costs one comparison, which no server can leave out.
 */
export const tracing: Scenario = {
  name: "tracing",
  title: "Telemetry: off, metrics, tracing every call",
  limitSeconds: [480, 180],
  run,
};

const BASE = "without telemetry";
const OFF = "without telemetry, a second server";
const METRICS = "with metrics";
const TRACED = "every call traced";

/** With fewer rounds there is no interval. */
const MIN_ROUNDS = 7;

/** The most processor time of a send, divided by that of the same round without telemetry. */
const LIMITS = [
  [OFF, 1.01],
  [METRICS, 1.03],
  [TRACED, 1.2],
] as const;

async function run(bench: Bench): Promise<Outcome> {
  let spans = 0;
  const collector = createServer((request, response) => {
    request.setEncoding("latin1");
    request.on("data", (text: string) => {
      spans += text.split('"parentSpanId"').length - 1;
    });
    request.on("end", () => void response.writeHead(200).end("{}"));
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  try {
    // Safe: it listens on a port.
    const { port } = collector.address() as AddressInfo;
    const spec = (label: string, config: Partial<PalaverConfig>): ServerSpec => ({
      ...palaverDurable(bench, config),
      label,
    });
    const { figures, costs, notes } = await measureSends({ ...bench, runs: Math.max(bench.runs, MIN_ROUNDS) }, [
      spec(BASE, { metrics: false }),
      spec(OFF, { metrics: false }),
      spec(METRICS, { metrics: true }),
      spec(TRACED, { metrics: false, otlp: `http://127.0.0.1:${port}` }),
    ]);
    const sends = (figures.get(TRACED) ?? []).reduce((sum, perSecond) => sum + perSecond, 0);
    if (spans < sends) throw new Error(`The collector received ${spans} spans of runs for more than ${sends} sends.`);
    const all = costs.all();
    const rows: Row[] = [
      ...LIMITS.map(([label, limit]): Row => {
        const { factor, low, high } = interval(ratios(all[label] ?? [], all[BASE] ?? []));
        // Two equal servers differ by chance: that difference must not exclude the limit.
        const judged = label === OFF ? low : factor;
        return {
          work: `processor time of a send, ${label}`,
          limit: `≤ ${limit}`,
          figure: factor.toFixed(3),
          ok: judged <= limit,
          spread: `${low.toFixed(3)} – ${high.toFixed(3)}`,
        };
      }),
      ...Array.from(figures, ([label, own]): Row => {
        const summary = summarize(own);
        return { work: label, figure: `${rate(summary.median)}, ${costs.describe(label)}`, ...spread(summary, rate) };
      }),
    ];
    const explained = [
      "Each ratio is the processor time of all threads divided by that of the same round without telemetry; median of the rounds and its 95 % interval.",
      "The second server without telemetry shows how far equal servers differ. What the code of telemetry costs while it is off: npm run bench:compare -- --base COMMIT, with a commit before it.",
    ];
    return {
      rows,
      notes: [...notes, ...explained],
      data: { perSecond: Object.fromEntries(figures), cpuMicroseconds: costs.all() },
    };
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
}
