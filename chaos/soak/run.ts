import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, nextMessage, startChild } from "../child.ts";
import type { ClientSetup } from "../client/main.ts";
import { createRandom } from "../random.ts";
import type { ReceiverSetup } from "../receiver.ts";
import { Supervisor } from "../supervisor.ts";
import { UnreliableProxy } from "../unreliable-proxy.ts";
import { type Looks, lookAround } from "./look-around.ts";
import type { SoakOptions } from "./options.ts";
import type { Sample } from "./verdict.ts";

/** So little is kept that the store has its full size within the first quarter of a short run. */
const RETENTION = { maxTasks: 80, pruneCount: 20, maxAge: 60_000, logAge: 30_000 };

/** Loads a server and samples what it uses. `say` gets a line for each sample. */
export async function runSoak(options: SoakOptions, say: (line: string) => void): Promise<readonly Sample[]> {
  if (options.dir !== undefined) mkdirSync(options.dir, { recursive: true });
  const folder = mkdtempSync(join(options.dir ?? tmpdir(), "palaver-soak-"));
  const database = join(folder, "tasks.db");
  const abort = new AbortController();
  // Nothing is cut: it is the address that clients know before the server has one.
  const proxy = await UnreliableProxy.start(createRandom("soak"));
  proxy.calm();
  const receiver = startChild({
    script: "receiver.ts",
    setup: { journal: devNull, seed: "soak", failures: 0.01 } satisfies ReceiverSetup,
    log: join(folder, "receiver.log"),
  });
  const hooks = (await nextMessage<{ readonly url: string }>(receiver))?.url ?? "";
  const supervisor = new Supervisor({
    setup: { database, steps: devNull, publicUrl: proxy.url, seed: "soak", retention: RETENTION },
    log: join(folder, "server.log"),
    nodeOptions: ["--expose-gc", "--max-semi-space-size=16", ...options.nodeOptions],
    onStart: (url) => proxy.leadTo(url),
  });
  await supervisor.start();
  const clients = Array.from({ length: options.clients }, (_, client) => {
    const { lanes } = options;
    const setup: ClientSetup = { url: proxy.url, hooks, journal: devNull, seed: "soak", client, lanes };
    return startChild({ script: "client/main.ts", setup, log: join(folder, `client-${client}.log`) });
  });
  const looks: Looks = { lists: 0, gets: 0, tasks: 0 };
  const looking = lookAround(() => proxy.url, looks, abort.signal);
  const samples: Sample[] = [];
  const begun = Date.now();
  while (Date.now() - begun < options.duration) {
    await sleep(options.interval);
    const sample = await sampleOf(supervisor, database);
    samples.push(sample);
    say(`${describe(sample, Date.now() - begun)}  ${looks.tasks} tasks, ${looks.lists} lists, ${looks.gets} gets`);
  }
  abort.abort();
  await looking;
  for (const child of [...clients, receiver]) child.kill("SIGKILL");
  await Promise.all([...clients, receiver].map(ended));
  await supervisor.stop();
  await proxy.close();
  rmSync(folder, { recursive: true });
  return samples;
}

async function sampleOf(supervisor: Supervisor, database: string): Promise<Sample> {
  const usage = await supervisor.usage();
  if (usage === undefined) throw new Error(`The server is gone. ${supervisor.deaths.join(" ")}`);
  return { ...usage, files: openFiles(supervisor.pid), store: sizeOf(database), wal: sizeOf(`${database}-wal`) };
}

/** `undefined` where the system has no `/proc`. */
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
