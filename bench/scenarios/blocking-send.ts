import {
  alternate,
  ECHO,
  type Figures,
  PALAVER_MEMORY,
  palaverDurable,
  SDK_MEMORY,
  sdkDatabase,
  startAll,
} from "../contenders.ts";
import { plain, rate, spread, times } from "../format.ts";
import { call } from "../load/call.ts";
import { type MeasuredLoad, RequestCosts } from "../load/request-costs.ts";
import { listBody, sendBody } from "../load/requests.ts";
import { LOAD_TOOL } from "../load/wrk.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { ANSWER } from "../servers/workload.ts";
import { ratios, summarize } from "../statistics.ts";

/** A caller sends one message and waits for the finished task. */
export const blockingSend: Scenario = {
  name: "send",
  title: "Blocking send",
  limitSeconds: [240, 90],
  run,
};

async function run(bench: Bench): Promise<Outcome> {
  const specs = [ECHO, palaverDurable(bench), PALAVER_MEMORY, SDK_MEMORY, sdkDatabase(bench)];
  const { figures, costs, notes } = await measureSends(bench, specs);
  return {
    rows: [...ratioRows(figures), ...Array.from(figures.keys(), (label) => absoluteRow(label, figures, costs))],
    notes,
    data: { perSecond: Object.fromEntries(figures), cpuMicroseconds: costs.all() },
  };
}

/** Measures the sends per second of each server. */
export async function measureSends(bench: Bench, specs: readonly ServerSpec[]): Promise<MeasuredLoad> {
  const { servers, notes } = await startAll(bench, specs);
  const seconds = bench.quick ? 1 : 3;
  for (const server of servers) {
    await checkAnswer(server);
    bench.progress(`warming up ${server.label}`);
    await load(bench, server, { seconds: bench.quick ? 1 : 2, costs: new RequestCosts() });
  }
  const costs = new RequestCosts();
  const figures = await alternate(bench, servers, (server) => load(bench, server, { seconds, costs }));
  return {
    figures,
    costs,
    notes: [`Load: ${LOAD_TOOL}; ${bench.runs} alternated runs of ${seconds} s.`, ...notes],
  };
}

/** A refusal is faster than a result: checks that the counted responses are results. */
async function checkAnswer({ label, port }: ServerProcess): Promise<void> {
  const { task } = await call(port, sendBody({ kind: "answer" }));
  if (task?.status.state !== "TASK_STATE_COMPLETED" || task.artifacts?.[0]?.parts[0]?.text !== ANSWER) {
    throw new Error(`${label} returned an unexpected task: ${JSON.stringify(task)}`);
  }
}

interface Measurement {
  readonly seconds: number;
  readonly costs: RequestCosts;
}

/** Resolves with responses per second. */
async function load(bench: Bench, server: ServerProcess, { seconds, costs }: Measurement): Promise<number> {
  const before = await countTasks(server);
  const { requests, perSecond } = await costs.measure(server, {
    seconds,
    connections: 32,
    signal: bench.signal,
    script: { name: "send" },
  });
  const made = (await countTasks(server)) - before;
  if (server.label !== ECHO.label && made < requests) {
    throw new Error(`${server.label} answered ${requests} sends but has ${made} tasks.`);
  }
  return perSecond;
}

/** Each answered send must have created a task. The echo creates none. */
async function countTasks({ label, port }: ServerProcess): Promise<number> {
  if (label === ECHO.label) return 0;
  return (await call(port, listBody({ pageSize: 1 }))).totalSize ?? 0;
}

function ratioRows(figures: Figures): Row[] {
  const of = (label: string) => figures.get(label) ?? [];
  const durable = of("Palaver durable");
  const toEcho = summarize(ratios(durable, of(ECHO.label)));
  const toSdk = summarize(ratios(durable, of(SDK_MEMORY.label)));
  return [
    {
      work: "Palaver durable ÷ raw echo",
      limit: "≥ 0.4 (then 0.5)",
      figure: plain(toEcho.median),
      ok: toEcho.median >= 0.4,
      ...spread(toEcho, plain),
    },
    {
      work: "Palaver durable ÷ SDK in memory",
      limit: "≥ 3×",
      figure: times(toSdk.median),
      ok: toSdk.median >= 3,
      ...spread(toSdk, times),
    },
  ];
}

function absoluteRow(label: string, figures: Figures, costs: RequestCosts): Row {
  const own = figures.get(label) ?? [];
  const summary = summarize(own);
  const toEcho = summarize(ratios(own, figures.get(ECHO.label) ?? []));
  return {
    work: label,
    figure: `${rate(summary.median)} (${plain(toEcho.median)} of the echo), ${costs.describe(label)}`,
    ...spread(summary, rate),
  };
}
