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
import { listBody, sendBody } from "../load/requests.ts";
import { applyLoad, LOAD_TOOL } from "../load/wrk.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
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
  const { servers, notes } = await startAll(bench, specs);
  const seconds = bench.quick ? 1 : 3;
  for (const server of servers) {
    await checkAnswer(server);
    bench.progress(`warming up ${server.label}`);
    await load(bench, server, bench.quick ? 1 : 2);
  }
  const figures = await alternate(bench, servers, async (server) => (await load(bench, server, seconds)).perSecond);
  return {
    rows: [...ratioRows(figures), ...servers.map(({ label }) => absoluteRow(label, figures))],
    notes: [`Load: ${LOAD_TOOL}; ${bench.runs} alternated runs of ${seconds} s.`, ...notes],
    data: Object.fromEntries(figures),
  };
}

/** A refusal would be quicker than an answer: makes sure that answers are what is counted. */
async function checkAnswer({ label, port }: ServerProcess): Promise<void> {
  const { task } = await call(port, sendBody({ kind: "answer" }));
  if (task?.status.state !== "TASK_STATE_COMPLETED" || task.artifacts?.[0]?.parts[0]?.text !== ANSWER) {
    throw new Error(`${label} does not answer as it should: ${JSON.stringify(task)}`);
  }
}

async function load(bench: Bench, server: ServerProcess, seconds: number): Promise<{ readonly perSecond: number }> {
  const before = await countTasks(server);
  const result = await applyLoad({
    port: server.port,
    seconds,
    connections: 32,
    signal: bench.signal,
    script: { name: "send" },
  });
  if (server.label === ECHO.label) return result;
  const made = (await countTasks(server)) - before;
  if (made < result.requests)
    throw new Error(`${server.label} answered ${result.requests} sends and has ${made} tasks of them.`);
  return result;
}

/** Each answered send must have made a task. The echo makes none. */
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

function absoluteRow(label: string, figures: Figures): Row {
  const own = figures.get(label) ?? [];
  const summary = summarize(own);
  const toEcho = summarize(ratios(own, figures.get(ECHO.label) ?? []));
  return {
    work: label,
    figure: `${rate(summary.median)} (${plain(toEcho.median)} of the echo)`,
    ...spread(summary, rate),
  };
}
