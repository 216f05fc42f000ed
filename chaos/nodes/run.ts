import { rmSync } from "node:fs";
import { checkRun, type Evidence } from "../check/check-run.ts";
import type { Discrepancy } from "../check/discrepancy.ts";
import { readJournal } from "../journal.ts";
import { planTask } from "../plan.ts";
import { createRandom } from "../random.ts";
import { type ChaosResult, countsOf, untilQuiet } from "../run.ts";
import { truthIn, unsettledIn } from "../truth.ts";
import { causeFaults } from "./cause-faults.ts";
import type { NodesOptions } from "./options.ts";
import { type Fault, planFaults } from "./plan.ts";
import { type NodesTestbed, openNodesTestbed } from "./testbed.ts";

/** One run on several nodes: starts all processes, causes the faults, waits for the end, and compares. Calls `say` with each fault. */
export async function runNodesChaos(options: NodesOptions, say: (line: string) => void): Promise<ChaosResult> {
  const { seed, tolerate, keep } = options;
  const faults = planFaults(createRandom(`${seed}/faults`), options);
  const testbed = await openNodesTestbed(options);
  const { folder, database } = testbed;
  try {
    say(`seed ${seed}: ${options.nodes} nodes, ${faults.length} faults; files in ${folder}`);
    try {
      await causeFaults(faults, testbed, say);
      say("no more faults; waiting until all tasks and webhooks are finished");
      await untilOver(testbed);
    } finally {
      await testbed.closeNodes();
    }
    const evidence = await gather(testbed, seed);
    const discrepancies = [...checkRun(evidence), ...(await strayWrites(testbed))];
    const failures = discrepancies.filter(({ kind }) => !tolerate.has(kind));
    const isKept = keep || failures.length > 0;
    if (!isKept) rmSync(folder, { recursive: true });
    return {
      seed,
      folder: isKept ? folder : undefined,
      counts: { ...countsOfFaults(faults), ...(await countsOfTestbed(testbed)), ...countsOf(evidence) },
      slowestStart: undefined,
      discrepancies,
      failures,
    };
  } finally {
    await database.stop();
  }
}

/** Waits until all clients have finished, all tasks have ended and all webhooks are delivered, or nothing makes progress. */
async function untilOver({ proxy, clients, journals, database, sendToClients }: NodesTestbed): Promise<void> {
  proxy.calm();
  sendToClients("finish");
  await untilQuiet(journals.clients, async () => clients.every(({ exitCode }) => exitCode !== null));
  sendToClients("give-up");
  const store = await database.openStore();
  try {
    await untilQuiet([journals.receiver, journals.steps], async () => {
      const { tasks, webhooks } = await unsettledIn(store);
      return tasks.length === 0 && webhooks === 0;
    });
  } finally {
    await store.close();
  }
}

async function gather({ database, journals, nodes }: NodesTestbed, seed: string): Promise<Evidence> {
  const random = createRandom(`${seed}/tasks`);
  const store = await database.openStore();
  try {
    return {
      tasks: await truthIn(store),
      clients: journals.clients.flatMap(readJournal),
      receiver: readJournal(journals.receiver),
      steps: readJournal(journals.steps),
      drains: nodes.flatMap(({ drains }) => drains),
      deaths: nodes.flatMap(({ deaths }) => deaths),
      planOf: (name) => planTask(random.fork(name), name),
    };
  } finally {
    await store.close();
  }
}

async function strayWrites({ database }: NodesTestbed): Promise<readonly Discrepancy[]> {
  const writes = await database.strayWrites();
  return writes.map((what) => ({ kind: "old-epoch", task: "", who: "node", what }));
}

function countsOfFaults(faults: readonly Fault[]): Record<string, number> {
  const kinds = Map.groupBy(faults, (fault) => fault.do);
  return Object.fromEntries(Array.from(kinds, ([kind, same]) => [kind, same.length]));
}

async function countsOfTestbed({ database, nodes, proxy }: NodesTestbed): Promise<Record<string, number>> {
  const { writes, claims } = await database.audited();
  return {
    "cut connections": proxy.cuts,
    "lost hints": nodes.reduce((sum, { proxies }) => sum + proxies.hints.lostHints, 0),
    "failed starts": nodes.reduce((sum, { failedStarts }) => sum + failedStarts, 0),
    "audited writes": writes,
    claims,
  };
}
