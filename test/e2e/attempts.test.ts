import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampled } from "../fixtures/budget.ts";
import { must, sendParams, type Task } from "./rpc.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

/** More than the three crashes without progress that fail a task. */
const KILLS = sampled(4, 10);
const INNOCENTS = sampled(2, 20);

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

const serve = (): Promise<Serving> => bench.serve([fixture("poison.ts"), "--store", "sqlite:tasks.db"]);

const begin = async ({ url }: Serving, text: string): Promise<string> => {
  const params = sendParams(text, { configuration: { returnImmediately: true } });
  return (await must<{ task: Task }>(url, "SendMessage", params)).task.id;
};

const read = ({ url }: Serving, id: string): Promise<Task> => must<Task>(url, "GetTask", { id });

/** Reads the task's number of attempts from the database. Call it only while no process has the store open. */
function triesOf(id: string): number {
  const database = new DatabaseSync(bench.path("tasks.db"), { readOnly: true });
  try {
    const row = database.prepare("SELECT runner FROM task WHERE id = ?").get(id);
    return JSON.parse(String(row?.["runner"])).tries;
  } finally {
    database.close();
  }
}

describe("a task that commits one new step in every attempt", () => {
  it(`completes after the server was killed ${KILLS} times`, async () => {
    let server = await serve();
    const id = await begin(server, "step");
    for (let life = 1; life <= KILLS; life++) {
      await until(() => bench.lines("stepped").length === life);
      await server.kill("SIGKILL");
      server = await serve();
    }
    bench.openGate("finish");
    await until(async () => (await read(server, id)).status.state === "TASK_STATE_COMPLETED");
    expect((await read(server, id)).artifacts?.[0]?.parts[0]?.text).toBe(`attempt ${KILLS + 1}`);
  }, 180_000);
});

describe("a task that crashes its process", () => {
  it(`fails with attempts-exhausted, while ${INNOCENTS} other running tasks complete without using up attempts`, async () => {
    let server = await serve();
    const innocents: string[] = [];
    for (let n = 0; n < INNOCENTS / 2; n++) innocents.push(await begin(server, "innocent"));
    const id = await begin(server, "poison");
    for (let n = 0; n < INNOCENTS / 2; n++) innocents.push(await begin(server, "innocent"));
    await until(() => bench.lines("starts").length === INNOCENTS + 1);
    bench.openGate("armed");
    await server.ended;
    let lives = 1;
    const isAlive = async (): Promise<boolean> => {
      lives += 1;
      try {
        server = await serve();
      } catch {
        return false; // The server crashed before it listened.
      }
      const over = server.ended.then(() => false);
      const failed = until(async () => {
        const task = await read(server, id).catch(() => undefined);
        return task?.status.state === "TASK_STATE_FAILED";
      }).then(() => true);
      return Promise.race([over, failed]);
    };
    while (!(await isAlive())) expect(lives).toBeLessThan(20);
    expect((await read(server, id)).status.message?.parts[0]?.text).toBe(
      "attempts-exhausted: the task's run crashed 3 times without progress.",
    );
    // Two starts with all tasks, those that halve the suspects down to one (five for 21 tasks), three with that task
    // alone, and one that reports the failure.
    expect(lives).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(INNOCENTS + 1)) + 3 + 1);
    // SIGTERM, not SIGKILL: if one of these tasks runs alone now, a kill would count as an attempt.
    await server.kill("SIGTERM");
    for (const innocent of innocents) expect(triesOf(innocent)).toBe(1);
    bench.openGate("finish");
    server = await serve();
    for (const innocent of innocents) {
      await until(async () => (await read(server, innocent)).status.state === "TASK_STATE_COMPLETED");
    }
    await server.kill("SIGTERM");
    for (const innocent of innocents) expect(triesOf(innocent)).toBe(1);
  }, 300_000);
});
