import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosDatabase } from "./database.ts";
import type { ChaosNode } from "./node.ts";
import type { Fault } from "./plan.ts";
import type { NodesTestbed } from "./testbed.ts";

/** Milliseconds after which a fault that still lasts does not delay the next one any more. */
const LONGEST_WAIT = 500;
/** Milliseconds within which nodes must listen again. A node that does not end, or does not start, fails the run instead of stopping it for ever. */
const LISTENING_WITHIN = 90_000;

type Disturbed = Pick<NodesTestbed, "database" | "proxy" | "nodes">;

/** Causes each fault after its pause, and says so. Resolves when all are over and all nodes listen. */
export async function causeFaults(
  faults: readonly Fault[],
  testbed: Disturbed,
  say: (line: string) => void,
): Promise<void> {
  const began = Date.now();
  const lasting = new Set<Promise<void>>();
  let database: Promise<void> = Promise.resolve();
  for (const fault of faults) {
    await sleep(fault.pause);
    const node = await chosenNode(testbed.nodes, fault.pick);
    // The database crashes and starts again before the next crash begins.
    if (fault.do.startsWith("crash")) await database;
    say(
      `${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s  fault ${fault.number}: ${describe(fault, node.process)}`,
    );
    const work = cause(fault, node, testbed).catch((error: unknown) =>
      say(`  fault ${fault.number}: ${String(error)}`),
    );
    if (fault.do.startsWith("crash")) database = work;
    lasting.add(work);
    void work.finally(() => lasting.delete(work));
    await Promise.race([work, sleep(LONGEST_WAIT)]);
  }
  await Promise.all(lasting);
  await within(testbed.nodes, () => testbed.nodes.every(({ isListening }) => isListening));
}

/** Waits until the condition is true. Rejects with the nodes that do not listen if that takes too long. */
async function within(nodes: readonly ChaosNode[], isTrue: () => boolean): Promise<void> {
  const end = Date.now() + LISTENING_WITHIN;
  while (!isTrue()) {
    if (Date.now() > end) {
      const silent = nodes.filter(({ isListening }) => !isListening).map((node) => node.process);
      throw new Error(`After ${LISTENING_WITHIN / 1000} s these nodes do not listen: ${silent.join(", ")}`);
    }
    await sleep(50);
  }
}

/** One of the nodes that listen. */
async function chosenNode(nodes: readonly ChaosNode[], pick: number): Promise<ChaosNode> {
  const chosen = (): ChaosNode | undefined => {
    const listening = nodes.filter(({ isListening }) => isListening);
    return listening[pick % listening.length];
  };
  await within(nodes, () => chosen() !== undefined);
  // Safe: nothing else has run since the last check.
  return chosen() as ChaosNode;
}

function describe({ do: what, time }: Fault, process: string): string {
  switch (what) {
    case "cut-callers":
      return "callers are cut";
    case "stall-callers":
      return `callers are stalled for ${time} ms`;
    case "cut-database":
      return `${process} is cut from the database`;
    case "delay-database":
      return `the connections of ${process} to the database are delayed by ${time} ms`;
    case "terminate":
      return `the database ends connections of ${process}`;
    case "lose-hints":
      return `${process} gets no hints for ${time} ms`;
    case "kill":
      return `kill -9 of ${process}`;
    case "hand-over":
      return `SIGTERM of ${process}`;
    case "suspend":
      return `SIGSTOP of ${process} for ${time} ms`;
    case "crash-database":
      return `the database crashes, for ${time} ms`;
    case "crash-in-recovery":
      return `kill -9 of ${process}; the database crashes during the take-over, for ${time} ms, and again after its start`;
    case "jump-clock":
      return `the clock of ${process} jumps by ${time} ms`;
  }
}

async function cause(fault: Fault, node: ChaosNode, { database, proxy }: Disturbed): Promise<void> {
  const { do: what, time, random } = fault;
  const half = (): boolean => random.chance(0.5);
  switch (what) {
    case "cut-callers":
      return proxy.cutAll(half);
    case "stall-callers":
      return proxy.stallAll(time);
    case "cut-database":
      node.proxies.hints.cut(half);
      return node.proxies.store.cut(half);
    case "delay-database":
      return node.proxies.store.delay(time);
    case "terminate":
      return database.terminate(node.process, half);
    case "lose-hints":
      return node.proxies.hints.loseHints(time);
    case "kill":
      return node.kill();
    case "hand-over":
      return node.replace();
    case "suspend":
      return node.suspend(time);
    case "jump-clock":
      return node.jumpClock(time);
    case "crash-database":
      return crash(database, time);
    case "crash-in-recovery": {
      const killed = node.kill();
      // The lease of the node ends, and the others begin to claim its tasks.
      await sleep(random.between(3000, 6500));
      await crash(database, time);
      await sleep(random.between(0, 500));
      await crash(database, random.between(0, 500));
      return killed;
    }
  }
}

async function crash(database: ChaosDatabase, time: number): Promise<void> {
  await database.crash();
  await sleep(time);
  await database.restart();
}
