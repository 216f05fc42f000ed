import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { palaverDurable } from "../contenders.ts";
import { plain, rate, spread } from "../format.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import { ratios, summarize } from "../statistics.ts";
import { measureSends } from "./blocking-send.ts";

/** Blocking sends, with every call traced and without: both send their spans to a collector in the bench's own process, or none. */
export const tracing: Scenario = {
  name: "tracing",
  title: "Tracing every call",
  limitSeconds: [240, 90],
  run,
};

const OFF = "Palaver durable";
const ON = "Palaver durable, every call traced";

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
    const traced = { ...palaverDurable(bench, { otlp: `http://127.0.0.1:${port}` }), label: ON };
    const { figures, costs, notes } = await measureSends(bench, [palaverDurable(bench), traced]);
    if (spans === 0) throw new Error("The collector received no spans.");
    const microseconds = (label: string): readonly number[] => costs.all()[label] ?? [];
    const extra = summarize(ratios(microseconds(ON), microseconds(OFF)));
    const rows: Row[] = [
      {
        work: "processor time of a send: traced ÷ not traced",
        limit: "≤ 1.2",
        figure: plain(extra.median),
        ok: extra.median <= 1.2,
        ...spread(extra, plain),
      },
      ...Array.from(figures, ([label, own]): Row => {
        const summary = summarize(own);
        return { work: label, figure: `${rate(summary.median)}, ${costs.describe(label)}`, ...spread(summary, rate) };
      }),
    ];
    return { rows, notes, data: { perSecond: Object.fromEntries(figures), cpuMicroseconds: costs.all() } };
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
}
