import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { palaverDurable } from "../contenders.ts";
import { costRow, factorOf, factorText } from "../cpu/cpu-rows.ts";
import { type CpuCosts, measureCpu } from "../cpu/measure-cpu.ts";
import { sendWork } from "../cpu/send-work.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerSpec } from "../server-process.ts";
import type { PalaverConfig } from "../servers/palaver.ts";

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

/** The most processor time of a send, divided by that of the same round without telemetry. */
const LIMITS = [
  [OFF, 1.01],
  [METRICS, 1.03],
  [TRACED, 1.2],
] as const;

async function run(bench: Bench): Promise<Outcome> {
  let spans = 0;
  const collector = createServer((request, response) => {
    request.on("data", (bytes: Buffer) => {
      // The collector shares the cores with the server, so it only searches.
      for (let at = bytes.indexOf(PARENT); at >= 0; at = bytes.indexOf(PARENT, at + 1)) spans += 1;
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
    const specs = [
      spec(BASE, { metrics: false }),
      spec(OFF, { metrics: false }),
      spec(METRICS, { metrics: true }),
      spec(TRACED, { metrics: false, otlp: `http://127.0.0.1:${port}` }),
    ];
    const measured = await measureCpu(bench, { work: sendWork, specs, compared: [TRACED, BASE] });
    if (spans === 0) throw new Error("The collector received no spans.");
    return {
      rows: [
        ...LIMITS.map((limit) => ratioRow(measured, limit)),
        ...specs.map(({ label }) => costRow(measured, label, "send")),
      ],
      notes: [...measured.notes, ...EXPLAINED],
      data: Object.fromEntries(measured.costs),
    };
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
}

function ratioRow(measured: CpuCosts, [label, limit]: (typeof LIMITS)[number]): Row {
  const factor = factorOf(measured, label, BASE);
  // Two equal servers differ by chance: that difference must not exclude the limit.
  const judged = label === OFF ? factor.low : factor.factor;
  return {
    work: `processor time of a send, ${label}`,
    limit: `≤ ${limit}×`,
    figure: factorText(factor),
    ok: judged <= limit,
  };
}

const PARENT = '"parentSpanId"';

const EXPLAINED = [
  "Each ratio is the processor time of all threads divided by that of the same round without telemetry.",
  "The second server without telemetry shows how far equal servers differ. What the code of telemetry costs while it is off: npm run bench:compare -- --base COMMIT, with a commit before it.",
];
