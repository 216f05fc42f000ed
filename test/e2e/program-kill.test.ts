import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type MarkedProcess, markedProcesses } from "../../src/adapters/process/children/process-table.ts";
import { sampled } from "../fixtures/budget.ts";
import { fixture, type Serving, Workbench } from "./workbench.ts";

/** How often the server is killed. */
const KILLS = sampled(2, 300);
/** Tasks that are sent to each agent between two kills. */
const TASKS = 2;
/** Kills after which the server may finish its tasks. Otherwise each start would run all programs of all earlier kills again. */
const KILLS_IN_A_ROW = 5;
/** Milliseconds until a kill, at most. */
const LONGEST = 400;
/** Rounds of tasks before the descriptors of the server are counted. */
const WARM_UP = 2;
const AGENTS = ["resuming", "failing"] as const;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

function start(): Promise<Serving> {
  const store = `sqlite:${bench.path("tasks.db")}`;
  const env = { XDG_STATE_HOME: bench.path("state") };
  return bench.serve(["--store", store, "--durability", "process", "--quiet", fixture("program-agents.ts")], { env });
}

interface SentTask {
  readonly agent: string;
  readonly id: string;
}

const lessThanHalfASecond = (): string => `0.${Math.floor(Math.random() * 5)}`;

/** Starts a task whose program runs for so many seconds. `undefined` if the server was killed before it answered. */
async function send(url: string, agent: string, seconds = lessThanHalfASecond()): Promise<SentTask | undefined> {
  try {
    const body = JSON.stringify({ message: seconds });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/agents/${agent}/a2a/tasks/send`, { method: "POST", headers, body });
    const { id } = (await answer.json()) as { readonly id: string };
    return { agent, id };
  } catch {
    return undefined;
  }
}

async function stateOf(url: string, { agent, id }: SentTask): Promise<string> {
  const answer = await fetch(`${url}/agents/${agent}/a2a/tasks/${id}`);
  return ((await answer.json()) as { readonly state: string }).state;
}

async function processesOf(server: number): Promise<readonly MarkedProcess[]> {
  return (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(server));
}

/** Whether the process exists, be it only as a zombie. */
function exists({ pid }: MarkedProcess): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").length > 0;
  } catch {
    return false;
  }
}

/** Zombies among the children of a process. */
function zombiesOf(parent: number): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && ppid === String(parent);
    } catch {
      return false;
    }
  });
}

/** Sends one message to each agent, several times, and waits until their tasks have completed. */
async function completeTasks(url: string, times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    for (const task of await Promise.all(AGENTS.map((agent) => send(url, agent)))) {
      if (task === undefined) throw new Error("The server did not answer.");
      await expect.poll(() => stateOf(url, task), { timeout: 30_000 }).toBe("completed");
    }
  }
}

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

it(`leaves no process behind when the server is killed ${KILLS} times while programs run`, {
  timeout: 120_000 + KILLS * 30_000,
}, async () => {
  const states = new Map<string, Set<string>>(AGENTS.map((agent) => [agent, new Set()]));
  const finish = async (url: string, tasks: readonly SentTask[]): Promise<void> => {
    for (const task of tasks) {
      await expect.poll(() => stateOf(url, task), { timeout: 120_000 }).toMatch(/^(completed|failed)$/);
      states.get(task.agent)?.add(await stateOf(url, task));
    }
  };
  const sent: SentTask[] = [];
  let tasks = 0;
  let orphans = 0;
  let server = await start();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const sending = AGENTS.flatMap((agent) => Array.from({ length: TASKS }, () => send(server.url, agent)));
    // Every second kill hits the start of programs, the others hit running ones.
    if (kill % 2 === 0) await expect.poll(() => processesOf(server.pid), { timeout: 30_000 }).not.toEqual([]);
    await sleep(Math.random() * LONGEST);
    // Whatever the other kills hit, the last one interrupts a task that must then fail.
    const interrupted = kill === KILLS - 1 ? await send(server.url, "failing", "30") : undefined;
    if (interrupted !== undefined) {
      sent.push(interrupted);
      await expect.poll(() => stateOf(server.url, interrupted), { timeout: 30_000 }).toBe("working");
    }
    await server.kill("SIGKILL");
    sent.push(...(await Promise.all(sending)).filter((task) => task !== undefined));
    const killed = server.pid;
    const left = await processesOf(killed);
    orphans += left.length;
    server = await start();
    expect(await processesOf(killed)).toEqual([]);
    await expect.poll(() => left.filter(exists), { timeout: 10_000 }).toEqual([]);
    if (kill % KILLS_IN_A_ROW !== KILLS_IN_A_ROW - 1) continue;
    tasks += sent.length;
    await finish(server.url, sent.splice(0));
    await expect.poll(() => zombiesOf(server.pid), { timeout: 10_000 }).toEqual([]);
    console.info(`${kill + 1} of ${KILLS} kills, ${tasks} tasks ended, ${orphans} orphans ended`);
  }
  // Otherwise the test would prove nothing.
  expect(orphans).toBeGreaterThan(0);
  tasks += sent.length;
  await finish(server.url, sent);
  expect([...(states.get("resuming") ?? [])]).toEqual(["completed"]);
  expect([...(states.get("failing") ?? [])]).toContain("failed");
  await completeTasks(server.url, WARM_UP);
  const before = descriptors(server.pid);
  await completeTasks(server.url, sampled(3, 20));
  // The connections of this test vary by a few; each task that kept its descriptors would add three.
  await expect.poll(() => descriptors(server.pid), { timeout: 30_000 }).toBeLessThan(before + 6);
  await expect.poll(() => zombiesOf(server.pid), { timeout: 10_000 }).toEqual([]);
  await server.kill("SIGTERM");
  expect(await processesOf(server.pid)).toEqual([]);
  console.info(`${KILLS} kills, ${tasks} tasks, ${orphans} orphans found and ended, 0 left`);
});
