import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Supervisor } from "../supervisor.ts";
import { openTestbed } from "../testbed.ts";
import { type Looks, lookAround } from "./look-around.ts";
import type { SoakOptions } from "./options.ts";
import type { Sample } from "./verdict.ts";

/** Keeps so few tasks that the store reaches its full size within the first quarter of a short run. */
const RETENTION = { maxTasks: 80, pruneCount: 20, maxAge: 60_000, logAge: 30_000 };

/** Allows garbage collection before each measurement; otherwise as in `npm start`. */
const NODE_OPTIONS = ["--expose-gc", "--max-semi-space-size=16"];

/** Loads a server and samples its resource use. Calls `say` with a line per sample. */
export async function runSoak(options: SoakOptions, say: (line: string) => void): Promise<readonly Sample[]> {
  const testbed = await openTestbed({
    ...options,
    name: "soak",
    seed: "soak",
    journals: false,
    receiverFailures: 0.01,
    retention: RETENTION,
    nodeOptions: [...NODE_OPTIONS, ...options.nodeOptions],
  });
  const { proxy, supervisor, database, folder } = testbed;
  // The proxy cuts nothing here: it gives clients an address before the server has one.
  proxy.calm();
  const abort = new AbortController();
  const looks: Looks = { lists: 0, gets: 0, tasks: 0 };
  const looking = lookAround(proxy.url, looks, abort.signal);
  const samples: Sample[] = [];
  const begun = Date.now();
  try {
    while (Date.now() - begun < options.duration) {
      await sleep(options.interval);
      const sample = await sampleOf(supervisor, database);
      samples.push(sample);
      say(`${describe(sample, Date.now() - begun)}  ${looks.tasks} tasks, ${looks.lists} lists, ${looks.gets} gets`);
    }
  } finally {
    abort.abort();
    await looking;
    await testbed.close();
  }
  rmSync(folder, { recursive: true });
  return samples;
}

async function sampleOf(supervisor: Supervisor, database: string): Promise<Sample> {
  const usage = await supervisor.usage();
  if (usage === undefined) throw new Error(`The server has ended. ${supervisor.deaths.join(" ")}`);
  return { ...usage, files: openFiles(supervisor.pid), store: sizeOf(database), wal: sizeOf(`${database}-wal`) };
}

/** `undefined` if the system has no `/proc`. */
function openFiles(pid: number | undefined): number | undefined {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : undefined;
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

function describe({ heap, rss, files, store, wal, loopDelay }: Sample, time: number): string {
  const mb = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const figures = [
    `heap ${mb(heap)}`,
    `rss ${mb(rss)}`,
    ...(files === undefined ? [] : [`${files} files`]),
    `store ${mb(store)}`,
    `wal ${mb(wal)}`,
    `loop delay ${loopDelay.toFixed(0)} ms`,
  ];
  return `${String(Math.round(time / 1000)).padStart(5)} s  ${figures.join("  ")}`;
}
