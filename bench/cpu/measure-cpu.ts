import { type Started, startAll } from "../contenders.ts";
import type { Bench } from "../scenario.ts";
import type { ServerProcess, ServerSpec } from "../server-process.ts";
import { ratios } from "../statistics.ts";
import { interval, relativeMargin } from "./interval.ts";
import { perOperation, readThreadTimes, type ThreadTimes, total } from "./thread-times.ts";
import type { CpuWork, Round } from "./work.ts";

/** The processor time per operation of each server, by label, in the order of the rounds. */
export interface CpuCosts extends Pick<Started, "notes"> {
  readonly costs: ReadonlyMap<string, readonly ThreadTimes[]>;
}

export interface CpuPlan {
  readonly work: CpuWork;
  readonly specs: readonly ServerSpec[];
  /** The labels of two servers: rounds are repeated until the interval of their ratio is narrow. */
  readonly compared: readonly [ours: string, other: string];
  /** Measure all servers at the same time, so that other load on the machine affects all alike. Default: in turn. */
  readonly together?: boolean;
}

/** Rounds end when the interval of the ratio is within ±2 %, but there are at most four times the requested rounds (`--runs`). */
const NARROW = 0.02;
const LEAST_ROUNDS = 6;
const MOST_ROUNDS = 4;

/** Measures each server in turn, round after round. The first seconds of work of each server are not counted. */
export async function measureCpu(
  bench: Bench,
  { work, specs, compared, together = false }: CpuPlan,
): Promise<CpuCosts> {
  const seconds = 1;
  const warmUpSeconds = bench.quick ? 3 : 10;
  const { servers, notes } = await startAll(bench, specs);
  const rounds = new Map<ServerProcess, Round>();
  const costs = new Map<string, ThreadTimes[]>();
  for (const server of servers) {
    bench.progress(`${server.label}: warming up`);
    const round = await work.prepare(bench, server);
    await round(warmUpSeconds, async (measured) => void (await measured()));
    rounds.set(server, round);
    costs.set(server.label, []);
  }
  const margin = () => {
    const [ours, other] = compared.map((label) => totals(costs.get(label) ?? []));
    return relativeMargin(interval(ratios(ours ?? [], other ?? [])));
  };
  const least = Math.max(bench.runs, LEAST_ROUNDS);
  for (let count = 0; count < bench.runs * MOST_ROUNDS && (count < least || margin() > NARROW); count += 1) {
    const measure = async ([server, round]: readonly [ServerProcess, Round]) =>
      void costs.get(server.label)?.push(await cost(server, round, seconds));
    if (together) await Promise.all(Array.from(rounds, measure));
    else for (const entry of rounds) await measure(entry);
    bench.progress(`${work.name}: round ${count + 1}, interval ±${(margin() * 100).toFixed(1)} %`);
  }
  return { costs, notes: [`Rounds of ${seconds} s after ${warmUpSeconds} s of warm-up.`, ...notes] };
}

async function cost({ label, pid }: ServerProcess, round: Round, seconds: number): Promise<ThreadTimes> {
  let result: ThreadTimes | undefined;
  await round(seconds, async (work) => {
    const before = readThreadTimes(pid);
    const operations = await work();
    result = perOperation(before, readThreadTimes(pid), operations);
  });
  if (result === undefined) throw new Error(`Nothing was measured of ${label}.`);
  return result;
}

/** Microseconds per operation of all threads together. */
export function totals(times: readonly ThreadTimes[]): number[] {
  return times.map(total);
}
