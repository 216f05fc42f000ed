import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { alternate, ECHO, PALAVER_MEMORY, palaverDurable, SDK_MEMORY, startAll } from "../contenders.ts";
import { plain, rate, spread } from "../format.ts";
import { checkGet, makeTasks } from "../load/finished-tasks.ts";
import { type MeasuredLoad, RequestCosts } from "../load/request-costs.ts";
import { LOAD_TOOL } from "../load/wrk.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { ratios, summarize } from "../statistics.ts";

/** Callers get finished tasks, a different one each time. */
export const getTask: Scenario = { name: "get", title: "Get over rotating ids", limitSeconds: [180, 60], run };

async function run(bench: Bench): Promise<Outcome> {
  const specs = [ECHO, palaverDurable(bench), PALAVER_MEMORY, SDK_MEMORY];
  const { figures, costs, notes } = await measureGets(bench, specs);
  const rows = Array.from(figures, ([label, own]): Row => {
    const toEcho = summarize(ratios(own, figures.get(ECHO.label) ?? []));
    const perSecond = rate(summarize(own).median);
    const figure = `${plain(toEcho.median)} (${perSecond}, ${costs.describe(label)})`;
    const row: Row = { work: label === ECHO.label ? label : `${label} ÷ raw echo`, figure, ...spread(toEcho, plain) };
    return label === "Palaver durable" ? { ...row, limit: "≥ 0.6", ok: toEcho.median >= 0.6 } : row;
  });
  return { rows, notes, data: { perSecond: Object.fromEntries(figures), cpuMicroseconds: costs.all() } };
}

/** Measures the gets per second of each server. */
export async function measureGets(bench: Bench, specs: readonly ServerSpec[]): Promise<MeasuredLoad> {
  const count = bench.quick ? 2_000 : 10_000;
  const seconds = bench.quick ? 1 : 3;
  const { servers, notes } = await startAll(bench, specs);
  const files = new Map<string, string>();
  for (const server of servers) {
    bench.progress(`${server.label}: creating ${count} tasks`);
    const ids = await makeTasks(server, count);
    await checkGet(server, ids[count >> 1] ?? "");
    const file = join(bench.folder(), "ids");
    writeFileSync(file, ids.join("\n"));
    files.set(server.label, file);
  }
  const load = (server: ServerProcess, costs: RequestCosts) =>
    costs.measure(server, {
      seconds,
      connections: 32,
      signal: bench.signal,
      script: { name: "get", ids: files.get(server.label) ?? "" },
    });
  for (const server of servers) await load(server, new RequestCosts());
  const costs = new RequestCosts();
  const figures = await alternate(bench, servers, async (server) => (await load(server, costs)).perSecond);
  return {
    figures,
    costs,
    notes: [
      `Load: ${LOAD_TOOL}; ${count.toLocaleString("en")} ids; ${bench.runs} alternated runs of ${seconds} s.`,
      ...notes,
    ],
  };
}
