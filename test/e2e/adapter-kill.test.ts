import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type MarkedProcess, markedProcesses } from "../../src/adapters/process/children/process-table.ts";
import { sampled } from "../fixtures/budget.ts";
import { fixture, type Serving, Workbench } from "./workbench.ts";

/** How often the server is killed. */
const KILLS = sampled(1, 30);
/** Milliseconds until a kill, at most. */
const LONGEST = 500;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
  mkdirSync(bench.path("work"));
});
afterEach(() => bench.close());

function start(): Promise<Serving> {
  const store = `sqlite:${bench.path("tasks.db")}`;
  const env = { XDG_STATE_HOME: bench.path("state"), CODER_FOLDER: bench.path("work") };
  return bench.serve(["--store", store, "--durability", "process", "--quiet", fixture("adapter-agents.ts")], { env });
}

interface SentTask {
  readonly agent: string;
  readonly id: string;
}

interface SeenTask {
  readonly state: string;
  readonly text: string;
}

type Answer = Readonly<Record<string, unknown>>;

/** Calls a method of the agent at this address. */
async function call(address: string, method: string, params: Answer): Promise<Answer> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  // Safe cast: the server answers with JSON-RPC.
  return ((await response.json()) as { readonly result: Answer }).result;
}

let messages = 0;

async function send(url: string, agent: string, message: Answer): Promise<SentTask> {
  messages += 1;
  const { task } = await call(`${url}/agents/${agent}/`, "SendMessage", {
    message: { messageId: `m-${messages}`, role: "ROLE_USER", ...message },
    configuration: { returnImmediately: true },
  });
  // Safe cast: these agents answer with tasks.
  return { agent, id: (task as { readonly id: string }).id };
}

async function see(url: string, { agent, id }: SentTask): Promise<SeenTask> {
  const task = await call(`${url}/agents/${agent}/`, "GetTask", { id });
  // Safe cast: tasks have a status.
  const { status } = task as { readonly status: { readonly state: string } };
  return { state: status.state, text: JSON.stringify(task) };
}

async function processesOf(server: number): Promise<readonly MarkedProcess[]> {
  return (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(server));
}

it(`leaves no MCP server and no ACP agent behind when the server is killed (${KILLS} times), and ends their tasks by their policy`, {
  timeout: 120_000 + KILLS * 30_000,
}, async () => {
  let server = await start();
  let orphans = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { url } = server;
    const waiting = await send(url, "town", { parts: [{ data: {} }], metadata: { skillId: "wait" } });
    const working = await send(url, "coder", { parts: [{ text: "work hard" }] });
    await expect.poll(async () => (await see(url, working)).text, { timeout: 30_000 }).toContain("First half.");
    // The first kill is one in the middle of both calls; the others are at any time.
    if (kill > 0) await sleep(Math.random() * LONGEST);
    const children = await processesOf(server.pid);
    await server.kill("SIGKILL");
    orphans += (await processesOf(server.pid)).length;
    expect(children.length).toBeGreaterThanOrEqual(4);
    const killed = server.pid;
    server = await start();
    expect(await processesOf(killed)).toEqual([]);
    const current = server.url;
    // A tool that may have had its effect is not called again.
    await expect.poll(() => see(current, waiting), { timeout: 60_000 }).toMatchObject({ state: "TASK_STATE_FAILED" });
    expect((await see(current, waiting)).text).toContain("mcp-call-cut-off");
    // The session of the ACP agent is loaded and goes on.
    await expect
      .poll(() => see(current, working), { timeout: 60_000 })
      .toMatchObject({ state: "TASK_STATE_COMPLETED" });
    expect((await see(current, working)).text).toContain("Second half.");
  }
  // Otherwise the test would prove nothing.
  expect(orphans).toBeGreaterThan(0);
  const added = await send(server.url, "town", { parts: [{ data: { a: 1, b: 2 } }], metadata: { skillId: "add" } });
  await expect.poll(() => see(server.url, added), { timeout: 30_000 }).toMatchObject({ state: "TASK_STATE_COMPLETED" });
  await server.kill("SIGTERM");
  expect(await processesOf(server.pid)).toEqual([]);
  console.info(`${KILLS} kills, ${orphans} orphans found and ended, 0 left`);
});
