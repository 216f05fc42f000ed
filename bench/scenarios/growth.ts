import { type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { trackChild } from "../children.ts";
import { palaverOn } from "../contenders.ts";
import { readThreadTimes, total } from "../cpu/thread-times.ts";
import { seededTask } from "../dataset.ts";
import { plain, times } from "../format.ts";
import { type Chart, drawCharts } from "../growth-chart.ts";
import { call } from "../load/call.ts";
import { inParallel } from "../load/in-parallel.ts";
import { openStream } from "../load/open-stream.ts";
import { getBody, listBody, sendBody, streamBody, subscribeBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import { LONG_TASKS } from "../seed-log.ts";
import type { ServerProcess } from "../server-process.ts";

/** Whether anything becomes slower when a server has more: processor time of each operation at growing sizes, as curves. */
export const growth: Scenario = { name: "growth", title: "Growth", limitSeconds: [2400, 900], run };

/** The picture of the curves, beside RESULTS.md. */
const PICTURE = "growth.svg";
/** How much more an operation may cost at the largest size than at the smallest. */
const LIMIT = 1.5;
const CALLERS = 8;
const CHUNKS = 100;
const WAITING = 1_000;

/** Operations by name; each does one of them. */
type Operations = Readonly<Record<string, (index: number) => Promise<unknown>>>;
/** Microseconds of the server's processor time, by operation. */
type Costs = Readonly<Record<string, number>>;

interface Growth extends Pick<Chart, "title" | "sizes"> {
  readonly name: string;
  readonly measured: readonly { readonly size: number; readonly costs: Costs }[];
}

async function run(bench: Bench): Promise<Outcome> {
  const grown = [await storedTasks(bench), await liveTasks(bench), await cursors(bench), await events(bench)];
  return {
    rows: grown.flatMap(rowsOf),
    notes: [
      `![The curves](${PICTURE})`,
      "Processor time of all threads of a durable Palaver, in microseconds per operation: the least of three measurements, because other work on the machine only adds to it.",
      "Live tasks are runs that work and write nothing. Cursors are open streams of 1,000 such tasks, opened inside the server's process through its `fetch`, without sockets. An event of the long task is one that a new subscriber reads.",
    ],
    data: Object.fromEntries(grown.map(({ name, measured }) => [name, measured])),
    pictures: { [PICTURE]: drawCharts(grown.map(chartOf)) },
  };
}

/** Sends, gets and lists beside very many finished tasks. */
async function storedTasks(bench: Bench): Promise<Growth> {
  const sizes = bench.quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000];
  const file = join(bench.folder(), "tasks.db");
  const measured = [];
  let seeded = 0;
  for (const size of sizes) {
    bench.progress(`${size.toLocaleString("en")} stored tasks`);
    await runScript(bench, "seed.ts", [file, String(seeded), String(size)]);
    seeded = size;
    const server = await bench.start(palaverOn(file));
    const id = (index: number): string => seededTask(Math.imul(index, 7919) % size).id;
    const costs = await costsOf(bench, server, {
      ...sending(server),
      get: (index) => call(server.port, getBody(id(Math.abs(index)))),
      list: () => call(server.port, listBody({ pageSize: 10 })),
    });
    await server.stop();
    measured.push({ size, costs });
  }
  return { name: "stored", title: "Stored tasks", sizes: "tasks in the store", measured };
}

/** Sends and events beside very many running tasks. */
async function liveTasks(bench: Bench): Promise<Growth> {
  const server = await bench.start(palaverOn(join(bench.folder(), "live.db")));
  const measured = [];
  let live = 0;
  for (const size of bench.quick ? [100, 1_000] : [100, 1_000, 10_000]) {
    bench.progress(`${size.toLocaleString("en")} live tasks`);
    await inParallel(size - live, () => begin(server));
    live = size;
    measured.push({ size, costs: await costsOf(bench, server, sending(server)) });
  }
  await server.stop();
  return { name: "live", title: "Live tasks", sizes: "tasks that run", measured };
}

/** Sends and events beside very many open streams. */
async function cursors(bench: Bench): Promise<Growth> {
  const sizes = bench.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000];
  const server = await bench.start(palaverOn(join(bench.folder(), "cursors.db"), { maxStreams: 200_000 }));
  const ids = await inParallel(WAITING, () => begin(server));
  const measured = [];
  let open = 0;
  for (const size of sizes) {
    bench.progress(`${size.toLocaleString("en")} cursors`);
    const each = (size - open) / WAITING;
    // One message after the other: a message has a largest size.
    for (let from = 0; from < ids.length; from += 100)
      await completed(server, sendBody({ kind: "subscribe", ids: ids.slice(from, from + 100), each }));
    open = size;
    measured.push({ size, costs: await costsOf(bench, server, sending(server)) });
  }
  await server.stop();
  return { name: "cursors", title: "Cursors", sizes: "open streams of 1,000 live tasks", measured };
}

/** Readers of one task with a very long log. */
async function events(bench: Bench): Promise<Growth> {
  const sizes = bench.quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000];
  const measured = [];
  for (const size of sizes) {
    bench.progress(`a task of ${size.toLocaleString("en")} events`);
    const file = join(bench.folder(), "long.db");
    await runScript(bench, "seed-log.ts", [file, String(size)]);
    const server = await bench.start(palaverOn(file));
    const count = Math.max(1, Math.round(20_000 / size));
    const readAll = await leastCost(server, {
      count: count * size,
      work: () => inParallel(count, () => readTo(server, size)),
    });
    measured.push({ size, costs: { "event read": readAll, ...(await costsOf(bench, server, sending(server))) } });
    await server.stop();
  }
  return { name: "events", title: "One long task", sizes: "events of the task", measured };
}

/** Reads the whole log of the long task. */
async function readTo({ port }: ServerProcess, size: number): Promise<void> {
  // With the id of an event, finished tasks can be read, too.
  const body = subscribeBody(LONG_TASKS.mixed);
  const frames = await openStream({ port, body, signal: NEVER, lastEventId: "1" }).ended;
  if (frames < size / 2) throw new Error(`${frames} frames for ${size} events.`);
}

const NEVER = new AbortController().signal;

function sending(server: ServerProcess): Operations {
  return {
    send: () => completed(server, sendBody({ kind: "answer" })),
    "event streamed": async () => {
      const body = streamBody({ kind: "chunks", count: CHUNKS, bytes: 30, delayMs: 0 });
      const frames = await openStream({ port: server.port, body, signal: NEVER }).ended;
      if (frames < 3) throw new Error("The stream was too short.");
    },
  };
}

/** How many of the operation's results one call has. */
const PER_CALL: Readonly<Record<string, number>> = { "event streamed": CHUNKS };

async function completed({ port }: ServerProcess, body: string): Promise<void> {
  const { task } = await call(port, body);
  if (task?.status.state !== "TASK_STATE_COMPLETED") throw new Error(`The task is ${task?.status.state}.`);
}

/** Starts a task that runs until it is canceled. */
async function begin({ port }: ServerProcess): Promise<string> {
  const { task } = await call(port, sendBody({ kind: "wait" }, { returnImmediately: true }));
  if (task === undefined) throw new Error("A send created no task.");
  return task.id;
}

async function costsOf(bench: Bench, server: ServerProcess, operations: Operations): Promise<Costs> {
  const costs: Record<string, number> = {};
  const calls = bench.quick ? 400 : 2_000;
  for (const [name, operate] of Object.entries(operations)) {
    const each = PER_CALL[name] ?? 1;
    const count = Math.ceil(calls / Math.sqrt(each));
    // Warm up.
    await inParallel(count, operate, CALLERS);
    costs[name] = await leastCost(server, { count: count * each, work: () => inParallel(count, operate, CALLERS) });
  }
  return costs;
}

interface Counted {
  readonly count: number;
  work(): Promise<unknown>;
}

/** Microseconds of processor time for each of `count` results: the least of three measurements. */
async function leastCost({ pid }: ServerProcess, { count, work }: Counted): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const before = total(readThreadTimes(pid));
    await work();
    costs.push((total(readThreadTimes(pid)) - before) / count);
  }
  return Math.min(...costs);
}

async function runScript(bench: Bench, name: string, args: readonly string[]): Promise<void> {
  const script = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const options: ForkOptions = { execArgv: ["--no-warnings"], signal: bench.signal, killSignal: "SIGKILL" };
  const [code] = await once(trackChild(fork(script, args, options)), "exit");
  if (code !== 0) throw new Error(`${name} failed.`);
}

function namesOf({ measured }: Growth): readonly string[] {
  return Object.keys(measured[0]?.costs ?? {});
}

function chartOf(grown: Growth): Chart {
  const curves = namesOf(grown).map((name) => ({
    name,
    points: grown.measured.map(({ size, costs }) => ({ size, cost: costs[name] ?? Number.NaN })),
  }));
  return { title: grown.title, sizes: grown.sizes, unit: "µs of processor time", curves };
}

function rowsOf(grown: Growth): readonly Row[] {
  const [first, last] = [grown.measured[0], grown.measured.at(-1)];
  return namesOf(grown).map((name) => {
    const [small, large] = [first?.costs[name] ?? Number.NaN, last?.costs[name] ?? Number.NaN];
    return {
      work: `${grown.title}: ${name}, ${first?.size.toLocaleString("en")} → ${last?.size.toLocaleString("en")}`,
      limit: `≤ ${LIMIT}×`,
      figure: `${times(large / small)}: ${grown.measured.map(({ costs }) => plain(costs[name] ?? Number.NaN)).join(", ")} µs`,
      ok: large / small <= LIMIT,
    };
  });
}
