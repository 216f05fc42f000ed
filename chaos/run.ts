import { existsSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { checkRun, type Evidence } from "./check/check-run.ts";
import type { Discrepancy } from "./check/discrepancy.ts";
import { type Entry, readJournal } from "./journal.ts";
import type { ChaosOptions } from "./options.ts";
import { planTask, planTroubles } from "./plan.ts";
import { createRandom } from "./random.ts";
import type { Start, Supervisor } from "./supervisor.ts";
import { openTestbed, type Testbed } from "./testbed.ts";
import { makeTrouble } from "./trouble.ts";
import { readTruth } from "./truth.ts";

export interface ChaosResult {
  readonly seed: string;
  /** The folder with the store, the logs and the journals; absent if it was deleted. */
  readonly folder: string | undefined;
  readonly counts: Readonly<Record<string, number>>;
  readonly slowestStart: Start | undefined;
  readonly discrepancies: readonly Discrepancy[];
  /** The discrepancies that are not tolerated. */
  readonly failures: readonly Discrepancy[];
}

/** Milliseconds without progress after which pending waits count as stuck. */
const QUIET = 15_000;

/** Milliseconds between two lines of progress. */
const PROGRESS = 30_000;

/**
 * One run: starts all processes, disturbs them, waits for the end, and compares. Calls `say` with each line of
 * progress.
 */
export async function runChaos(options: ChaosOptions, say: (line: string) => void): Promise<ChaosResult> {
  const { seed, duration, kills, store: faults, tolerate, keep } = options;
  const testbed = await openTestbed({ ...options, name: "chaos", journals: true, receiverFailures: 0.1, faults });
  const { supervisor, proxy, folder } = testbed;
  say(`seed ${seed}: ${kills} kills in ${Math.round(duration / 1000)} s plus restart time; files in ${folder}`);
  const began = Date.now();
  const progress = setInterval(() => {
    say(`${Math.round((Date.now() - began) / 1000)} s: ${supervisor.kills} of ${kills} kills, ${proxy.cuts} cuts`);
  }, PROGRESS);
  try {
    await makeTrouble(planTroubles(createRandom(`${seed}/troubles`), { kills, duration }), testbed, duration);
    say("no more disturbances; waiting until all tasks and webhooks are finished");
    await untilOver(testbed);
  } finally {
    clearInterval(progress);
    await testbed.close();
  }
  const evidence = await gather(testbed, seed);
  const discrepancies = checkRun(evidence);
  const failures = discrepancies.filter(({ kind }) => !tolerate.has(kind));
  const isKept = keep || failures.length > 0;
  if (!isKept) rmSync(folder, { recursive: true });
  const trouble = { kills: supervisor.kills, terminations: supervisor.drains.length - 1, stops: supervisor.stops };
  return {
    seed,
    folder: isKept ? folder : undefined,
    counts: { ...trouble, cuts: proxy.cuts, ...countsOf(evidence) },
    slowestStart: supervisor.slowestStart,
    discrepancies,
    failures,
  };
}

/**
 * Waits until all clients have finished, all tasks have ended and all webhooks are delivered, or nothing makes
 * progress.
 */
async function untilOver({ supervisor, proxy, clients, journals, sendToClients }: Testbed): Promise<void> {
  await supervisor.revive();
  proxy.calm();
  sendToClients("finish");
  await untilQuiet(journals.clients, async () => {
    await supervisor.revive();
    return clients.every(({ exitCode }) => exitCode !== null);
  });
  sendToClients("give-up");
  await untilQuiet([journals.receiver, journals.steps], () => isSettled(supervisor));
}

async function gather({ database, journals, supervisor }: Testbed, seed: string): Promise<Evidence> {
  const random = createRandom(`${seed}/tasks`);
  const { drains, deaths } = supervisor;
  return {
    tasks: await readTruth(database),
    clients: journals.clients.flatMap(readJournal),
    receiver: readJournal(journals.receiver),
    steps: readJournal(journals.steps),
    drains,
    deaths,
    planOf: (name) => planTask(random.fork(name), name),
  };
}

/** What the participants have done. */
export function countsOf({ tasks, clients, receiver }: Evidence): Record<string, number> {
  const of = (kind: Entry["kind"]): number => clients.filter((entry) => entry.kind === kind).length;
  const said = clients.filter((entry) => entry.kind === "said");
  const answers = said.filter(({ text }) => /\/(?:own|answer)/.test(text)).length;
  return {
    tasks: tasks.length,
    events: tasks.reduce((sum, { log }) => sum + log.length, 0),
    "events read": of("frame") + of("event"),
    readers: of("read-to-end"),
    answers,
    "inbox messages": said.length - answers,
    cancels: of("canceled"),
    deliveries: receiver.length,
  };
}

/** Waits until the run is over, or until the journals have not grown for a while: then something is stuck. */
export async function untilQuiet(journals: readonly string[], isOver: () => Promise<boolean>): Promise<void> {
  const size = (): number => journals.reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);
  let known = size();
  let changedAt = Date.now();
  // With thousands of tasks `isOver` alone can take longer than QUIET, so the journals are looked at after it.
  while (!(await isOver())) {
    const now = size();
    if (now !== known) changedAt = Date.now();
    else if (Date.now() - changedAt >= QUIET) return;
    known = now;
    await sleep(200);
  }
}

/** Whether every task has ended and every webhook is delivered. */
async function isSettled(supervisor: Supervisor): Promise<boolean> {
  await supervisor.revive();
  const left = await supervisor.unsettled();
  return left !== undefined && left.tasks.length === 0 && left.webhooks === 0;
}
