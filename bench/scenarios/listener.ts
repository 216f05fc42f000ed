import { costRow, factorOf, factorText } from "../cpu/cpu-rows.ts";
import { measureCpu } from "../cpu/measure-cpu.ts";
import { prepareSends, sendWork } from "../cpu/send-work.ts";
import type { CpuWork } from "../cpu/work.ts";
import type { Bench, Outcome, Scenario } from "../scenario.ts";
import type { ServerSpec } from "../server-process.ts";
import type { PalaverConfig } from "../servers/palaver.ts";

/** What it costs HTTP/1 that HTTP/2 and gRPC are on the same port: processor time of a send, beside an `http.Server`. */
export const listener: Scenario = {
  name: "listener",
  title: "One port for HTTP/1 and HTTP/2: sends over HTTP/1",
  limitSeconds: [900, 240],
  run,
};

const PLAIN = "http.Server";
const SWITCHING = "HTTP/1 and HTTP/2";

interface Kind {
  readonly work: CpuWork;
  readonly name: string;
  /** The most processor time, as a multiple of the `http.Server`'s. */
  readonly limit: number;
}

const KINDS: readonly Kind[] = [
  { name: "kept connections", work: sendWork, limit: 1.03 },
  { name: "a connection per send", work: { ...sendWork, prepare: prepareSends(true) }, limit: 1.1 },
];

/** In memory: with a disk, the listener would be a smaller part of each send. */
const specs: readonly ServerSpec[] = [
  { label: PLAIN, script: "palaver", config: { plainListener: true } satisfies PalaverConfig },
  { label: SWITCHING, script: "palaver" },
];

async function run(bench: Bench): Promise<Outcome> {
  const measured = [];
  for (const kind of KINDS) {
    const plan = { work: kind.work, specs, compared: [SWITCHING, PLAIN], together: true } as const;
    measured.push({ ...kind, ...(await measureCpu(bench, plan)) });
  }
  return {
    rows: measured.flatMap(({ name, limit, work, ...cpu }) => {
      const factor = factorOf(cpu, SWITCHING, PLAIN);
      return [
        {
          work: `${name}: ${SWITCHING} ÷ ${PLAIN}`,
          figure: factorText(factor),
          limit: `≤ ${limit}×`,
          ok: factor.factor <= limit,
        },
        ...[PLAIN, SWITCHING].map((label) => ({
          ...costRow(cpu, label, work.unit),
          work: `${name}: ${label}`,
        })),
      ];
    }),
    notes: ["Palaver in memory. Both are measured at the same time.", ...(measured[0]?.notes ?? [])],
    data: Object.fromEntries(measured.map(({ name, costs }) => [name, Object.fromEntries(costs)])),
  };
}
