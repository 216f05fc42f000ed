import { setTimeout as pause } from "node:timers/promises";
import { palaverDurable } from "../contenders.ts";
import { kilobytes, megabytes } from "../format.ts";
import { call } from "../load/call.ts";
import { inParallel } from "../load/in-parallel.ts";
import { sendBody } from "../load/requests.ts";
import { memoryInUse } from "../memory-in-use.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";

/** Very many tasks wait for an answer of their caller: how much memory the server needs for them. */
export const waitingTasks: Scenario = {
  name: "waiting",
  title: "Tasks that wait for an answer",
  limitSeconds: [1200, 300],
  run,
};

const LIMIT_BYTES = 3 * 1024;
/** With fewer waiting tasks, all of them stay in memory (`limits.maxWaitingRuns`). */
const IN_MEMORY = 1_000;
/** Milliseconds after which a waiting run may be parked, and some more for parking itself. */
const PARKING = 3_000;

interface Measured {
  readonly tasks: number;
  /** Bytes for all of them. */
  readonly bytes: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const sizes = bench.quick ? [IN_MEMORY, 10_000] : [IN_MEMORY, 10_000, 100_000];
  const server = await bench.start(palaverDurable(bench));
  const ask = async () => {
    const { task } = await call(server.port, sendBody({ kind: "ask" }));
    if (task?.status.state !== "TASK_STATE_INPUT_REQUIRED") throw new Error(`The task is ${task?.status.state}.`);
  };
  // Memory that is allocated once does not count.
  await inParallel(100, ask);
  await pause(PARKING);
  const empty = await memoryInUse(server);
  const measured: Measured[] = [];
  let made = 0;
  for (const tasks of sizes) {
    bench.progress(`${tasks.toLocaleString("en")} tasks ask`);
    await inParallel(tasks - made, ask);
    made = tasks;
    const bytes = await settled(async () => {
      await pause(PARKING);
      return (await memoryInUse(server)) - empty;
    });
    measured.push({ tasks, bytes });
  }
  await server.stop();
  return {
    rows: measured.map(rowOf),
    notes: [
      `Heap + external after GC, above the memory of a server with 100 waiting tasks. At most ${IN_MEMORY.toLocaleString("en")} waiting runs stay in memory; above that, the older ones are parked and need none (ADR 0090). So the limit per task applies from 10,000 waiting tasks on; fewer of them need at most 10 MB together. After 30 s all of them are parked; with 100,000 tasks that is so for most when the memory is read. Below 0: the server has released memory of its start.`,
    ],
    data: { measured },
  };
}

function rowOf({ tasks, bytes }: Measured): Row {
  const each = bytes / tasks;
  const row = {
    work: `Palaver durable, ${tasks.toLocaleString("en")} waiting tasks`,
    figure: `${kilobytes(each)} each, ${megabytes(bytes)} together`,
  };
  return tasks > IN_MEMORY ? { ...row, limit: "≤ 3 KB each", ok: each <= LIMIT_BYTES } : row;
}

/** Reads until the value no longer falls by over 5 %. */
async function settled(read: () => Promise<number>): Promise<number> {
  let last = await read();
  for (let tries = 0; tries < 10; tries += 1) {
    const next = await read();
    if (next > last * 0.95) return next;
    last = next;
  }
  return last;
}
