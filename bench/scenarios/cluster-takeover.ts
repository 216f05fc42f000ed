import type { ChildProcess } from "node:child_process";
import { devNull } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { nextMessage, startChild } from "../../chaos/child.ts";
import { sseFrames } from "../../chaos/client/sse.ts";
import { ChaosDatabase } from "../../chaos/nodes/database.ts";
import type { NodeSetup } from "../../chaos/nodes/server.ts";
import { whyNoPostgres } from "../../test/fixtures/postgres-server.ts";
import { milliseconds } from "../format.ts";
import { type Bench, NotMeasurable, type Outcome, type Row, type Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";

/** How long tasks stand still when their node is killed, and when it shuts down. */
export const clusterTakeover: Scenario = {
  name: "cluster-takeover",
  title: "Three nodes on one PostgreSQL: take-over after kill -9 and SIGTERM",
  limitSeconds: [600, 240],
  run,
};

const TASKS = 20;
/** Milliseconds between two events of a task. */
const PAUSE = 40;

interface Node {
  readonly url: string;
  readonly child: ChildProcess;
}

async function run(bench: Bench): Promise<Outcome> {
  const reason = await whyNoPostgres();
  if (reason !== undefined) throw new NotMeasurable(reason);
  const database = await ChaosDatabase.start();
  const nodes: Node[] = [];
  let starts = 0;
  const start = async (): Promise<Node> => {
    starts += 1;
    const url = database.urlFor(`bench-${starts}`, database.port);
    const setup: NodeSetup = { database: url, hints: url, steps: devNull, publicUrl: "http://127.0.0.1" };
    const child = startChild({ script: "nodes/server.ts", setup, log: devNull });
    const started = await nextMessage<{ readonly url: string }>(child);
    if (started === undefined) throw new Error("A node did not start.");
    return { url: started.url, child };
  };
  try {
    nodes.push(...(await Promise.all([start(), start(), start()])));
    const gaps: Record<"SIGKILL" | "SIGTERM", number[]> = { SIGKILL: [], SIGTERM: [] };
    const rounds = bench.quick ? 2 : 10;
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      for (let round = 0; round < rounds; round += 1) {
        bench.progress(`${signal}, round ${round + 1} of ${rounds}`);
        const [stopped, reader] = nodes;
        if (stopped === undefined || reader === undefined) throw new Error("There are too few nodes.");
        gaps[signal].push(...(await measure({ stopped, reader, signal })));
        nodes.shift();
        nodes.push(await start());
      }
    }
    return {
      rows: [...rowsOf("kill -9", gaps.SIGKILL, 6000), ...rowsOf("SIGTERM", gaps.SIGTERM, 300)],
      notes: [NOTE],
      data: gaps,
    };
  } finally {
    for (const { child } of nodes) child.kill("SIGKILL");
    await database.stop();
  }
}

const NOTE =
  "Milliseconds from the last event that a reader on another node received before the signal took effect to the next one. After SIGTERM tasks go on for the drain time (0.3 s here) on their node.";

interface Stop {
  readonly stopped: Node;
  readonly reader: Node;
  readonly signal: "SIGKILL" | "SIGTERM";
}

/** Per task: the longest pause of its stream after the signal. */
async function measure({ stopped, reader, signal }: Stop): Promise<readonly number[]> {
  const abort = new AbortController();
  const arrivals = await Promise.all(
    Array.from({ length: TASKS }, async () => follow(reader, await begin(stopped), abort.signal)),
  );
  await sleep(1000);
  const at = performance.now();
  stopped.child.kill(signal);
  await sleep(signal === "SIGKILL" ? 9000 : 3000);
  abort.abort();
  return arrivals.map((times) => longestPause(times, at));
}

async function begin({ url }: Node): Promise<string> {
  const actions = [{ do: "write", chunks: 1000, size: 4, pause: PAUSE }];
  const message = {
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ text: JSON.stringify({ name: "bench", actions }) }],
  };
  const params = { message, configuration: { returnImmediately: true } };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
  });
  // Safe cast: the format of the response.
  const { result } = (await response.json()) as { readonly result: { readonly task: { readonly id: string } } };
  return result.task.id;
}

/** The times at which events of the task arrive, in a list that grows. */
function follow({ url }: Node, id: string, signal: AbortSignal): number[] {
  const times: number[] = [];
  const read = async (): Promise<void> => {
    const response = await fetch(url, {
      method: "POST",
      signal,
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } }),
    });
    if (response.body === null) return;
    for await (const _frame of sseFrames(response.body)) times.push(performance.now());
  };
  read().catch(() => {}); // Aborted at the end of the round.
  return times;
}

function longestPause(times: readonly number[], since: number): number {
  let longest = 0;
  for (const [index, time] of times.entries()) {
    const before = times[index - 1];
    if (before !== undefined && time > since) longest = Math.max(longest, time - before);
  }
  // No event came after the signal.
  return (times.at(-1) ?? 0) > since ? longest : Number.POSITIVE_INFINITY;
}

function rowsOf(what: string, gaps: readonly number[], most: number): Row[] {
  const p99 = percentile(gaps, 0.99);
  return [
    { work: `${what} to the next event, p50`, figure: milliseconds(percentile(gaps, 0.5)) },
    { work: `${what} to the next event, p99`, limit: `≤ ${most} ms`, figure: milliseconds(p99), ok: p99 <= most },
  ];
}
