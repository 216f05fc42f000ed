import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkRun } from "./check/check-run.ts";
import type { Discrepancy } from "./check/discrepancy.ts";
import { ended, nextMessage, startChild } from "./child.ts";
import type { ClientCommand, ClientSetup } from "./client/main.ts";
import { type Entry, readJournal } from "./journal.ts";
import type { ChaosOptions } from "./options.ts";
import { planTask, planTroubles } from "./plan.ts";
import { createRandom } from "./random.ts";
import type { ReceiverSetup } from "./receiver.ts";
import { type Start, Supervisor } from "./supervisor.ts";
import { makeTrouble } from "./trouble.ts";
import { readTruth, type TaskTruth } from "./truth.ts";
import { UnreliableProxy } from "./unreliable-proxy.ts";

export interface ChaosResult {
  readonly seed: string;
  /** Where the store, the logs and the journals are, or were. */
  readonly folder: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly slowestStart: Start | undefined;
  readonly discrepancies: readonly Discrepancy[];
}

/** Milliseconds without any progress after which those who still wait are taken to wait for ever. */
const QUIET = 15_000;

/** One run: starts everything, makes trouble, waits for the end, compares. `say` is told what happens. */
export async function runChaos(options: ChaosOptions, say: (line: string) => void): Promise<ChaosResult> {
  const { seed, duration, kills, clients: clientCount, lanes, nodeOptions, store } = options;
  const random = createRandom(seed);
  if (options.dir !== undefined) mkdirSync(options.dir, { recursive: true });
  const folder = mkdtempSync(join(options.dir ?? tmpdir(), "palaver-chaos-"));
  const file = (name: string): string => join(folder, name);
  const proxy = await UnreliableProxy.start(random.fork("proxy"));
  const receiver = startChild({
    script: "receiver.ts",
    setup: { journal: file("receiver.jsonl"), seed: `${seed}/receiver`, failures: 0.1 } satisfies ReceiverSetup,
    log: file("receiver.log"),
  });
  const hooks = (await nextMessage<{ readonly url: string }>(receiver))?.url ?? "";
  const supervisor = new Supervisor({
    setup: {
      database: file("tasks.db"),
      steps: file("steps.jsonl"),
      publicUrl: proxy.url,
      seed: `${seed}/server`,
      ...(store !== undefined && { faults: store }),
    },
    log: file("server.log"),
    nodeOptions,
    onStart: (url) => proxy.leadTo(url),
  });
  await supervisor.start();
  const clients = Array.from({ length: clientCount }, (_, client) => {
    const journal = file(`client-${client}.jsonl`);
    const setup: ClientSetup = { url: proxy.url, hooks, journal, seed: `${seed}/tasks`, client, lanes };
    return startChild({ script: "client/main.ts", setup, log: file(`client-${client}.log`) });
  });
  say(`seed ${seed}: ${clientCount} clients, ${kills} kills in ${Math.round(duration / 1000)} s; files in ${folder}`);

  const troubles = planTroubles(random.fork("troubles"), { kills, duration });
  await makeTrouble(troubles, { supervisor, proxy, clients, receiver }, duration);
  await supervisor.revive();
  proxy.calm();
  const command = (what: ClientCommand): void => {
    for (const client of clients) if (client.connected) client.send(what);
  };
  command("finish");
  say("no more trouble; waiting until all is over");
  const journals = clients.map((_, client) => file(`client-${client}.jsonl`));
  await untilQuiet(journals, () => Promise.resolve(clients.every(({ exitCode }) => exitCode !== null)));
  command("give-up");
  await Promise.all(clients.map(ended));
  await untilQuiet([file("receiver.jsonl"), file("steps.jsonl")], () => isSettled(supervisor));
  await supervisor.stop();
  receiver.kill("SIGTERM");
  await ended(receiver);
  await proxy.close();

  const tasks = await readTruth(file("tasks.db"));
  const entries = journals.flatMap(readJournal);
  const received = readJournal(file("receiver.jsonl"));
  const planRandom = createRandom(`${seed}/tasks`);
  const discrepancies = checkRun({
    tasks,
    clients: entries,
    receiver: received,
    steps: readJournal(file("steps.jsonl")),
    drains: supervisor.drains,
    deaths: supervisor.deaths,
    planOf: (name) => planTask(planRandom.fork(name), name),
  });
  if (discrepancies.length === 0 && !options.keep) rmSync(folder, { recursive: true });
  const counts = {
    kills: supervisor.kills,
    terminations: supervisor.drains.length - 1,
    stops: supervisor.stops,
    cuts: proxy.cuts,
    ...countEntries(tasks, entries, received),
  };
  return { seed, folder, counts, slowestStart: supervisor.slowestStart, discrepancies };
}

function countEntries(
  tasks: readonly TaskTruth[],
  entries: readonly Entry[],
  received: readonly Entry[],
): Record<string, number> {
  const of = (kind: Entry["kind"]): number => entries.filter((entry) => entry.kind === kind).length;
  const said = entries.filter((entry) => entry.kind === "said");
  const answers = said.filter(({ text }) => /\/(?:own|answer)/.test(text)).length;
  return {
    tasks: tasks.length,
    events: tasks.reduce((sum, { log }) => sum + log.length, 0),
    "events read": of("frame") + of("told"),
    readers: of("read-to-end"),
    answers,
    "inbox messages": said.length - answers,
    cancels: of("canceled"),
    deliveries: received.length,
  };
}

/** Until it is over, or nothing has been written down for long: then somebody waits in vain. */
async function untilQuiet(journals: readonly string[], isOver: () => Promise<boolean>): Promise<void> {
  const size = (): number => journals.reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);
  let known = size();
  let changedAt = Date.now();
  while (!(await isOver()) && Date.now() - changedAt < QUIET) {
    await sleep(200);
    const now = size();
    if (now !== known) changedAt = Date.now();
    known = now;
  }
}

/** Whether every task has ended and every webhook has been told. */
async function isSettled(supervisor: Supervisor): Promise<boolean> {
  await supervisor.revive();
  const left = await supervisor.unsettled();
  return left !== undefined && left.tasks.length === 0 && left.webhooks === 0;
}
