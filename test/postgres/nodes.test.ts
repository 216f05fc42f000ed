import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collect, eventsOf, idsUpTo, must, sendParams, type Task } from "../e2e/rpc.ts";
import { fixture, type Serving, until, Workbench } from "../e2e/workbench.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";

const reason = await whyNoPostgres();
const RETURN = { configuration: { returnImmediately: true } };
/** An address where no database is. */
const NOWHERE = "postgres://127.0.0.1:1/none";

let server: OwnDatabase;
let bench: Workbench;
let first: Serving;
let second: Serving;
/** It gets no hints: it finds everything by polling. */
let polling: Serving;

async function begin(node: Serving, name: string): Promise<string> {
  const { task } = await must<{ task: Task }>(node.url, "SendMessage", sendParams(name, RETURN));
  return task.id;
}

function get(node: Serving, id: string, path = ""): Promise<Task> {
  return must<Task>(`${node.url}${path}`, "GetTask", { id });
}

/** Reads all events of a task by a subscription that begins at the first one. */
async function subscribe(node: Serving, id: string): Promise<readonly unknown[]> {
  return eventsOf(await collect(node.url, { method: "SubscribeToTask", params: { id }, after: 0 }));
}

/** Lets the task produce these events. */
function openGates(name: string, from: number, to: number): void {
  for (let event = from; event <= to; event++) bench.openGate(`${name}-${event}`);
}

function stepsOf(name: string): readonly string[] {
  return bench.lines("steps").filter((line) => line.startsWith(`${name}-`));
}

function stepsUpTo(name: string, last: number): readonly string[] {
  return Array.from({ length: last - 2 }, (_, index) => `${name}-${index + 3}`);
}

describe.skipIf(reason !== undefined)(
  `three nodes on one PostgreSQL${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      server = await createDatabase();
      bench = new Workbench();
      const serve = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
        bench.serve([fixture("ten-events.ts"), "--demo", "--store", "postgres:"], {
          env: { DATABASE_URL: `${server.url}?schema=nodes`, ...env },
        });
      // All at once: one of them creates the tables, and the others wait.
      [first, second, polling] = await Promise.all([serve(), serve(), serve({ DATABASE_DIRECT_URL: NOWHERE })]);
    });
    afterAll(async () => {
      await bench.close();
    });

    test("every node streams, returns and lists the task of another node, with the same events, also without hints", async () => {
      const id = await begin(first, "shared");
      const streams = [first, second, polling].map((node) => subscribe(node, id));
      openGates("shared", 2, 10);
      const [own, other, polled] = await Promise.all(streams);
      expect(own).toMatchObject(idsUpTo(10).map((event) => ({ id: event })));
      expect(other).toEqual(own);
      expect(polled).toEqual(own);
      expect(await subscribe(second, id)).toEqual(own);
      const task = await get(first, id);
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      for (const node of [second, polling]) {
        expect(await get(node, id)).toEqual(task);
        const { tasks } = await must<{ tasks: readonly Task[] }>(node.url, "ListTasks", {});
        expect(tasks.map((listed) => listed.id)).toContain(id);
      }
      expect(stepsOf("shared")).toEqual(stepsUpTo("shared", 9));
    });

    test.each([
      { name: "with hints", by: () => second },
      { name: "without hints", by: () => polling },
    ])("a node cancels the task of another node ($name)", async ({ name, by }) => {
      const id = await begin(first, `canceled ${name}`);
      await until(async () => (await get(first, id)).status.state === "TASK_STATE_WORKING");
      const canceled = await must<Task>(by().url, "CancelTask", { id });
      expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
      expect(await get(first, id)).toEqual(canceled);
    });

    test.each([
      { name: "with hints", by: () => second },
      { name: "without hints", by: () => polling },
    ])("a node answers the question of a task of another node ($name)", async ({ by }) => {
      const path = "/agents/booking";
      const { task } = await must<{ task: Task }>(`${first.url}${path}`, "SendMessage", sendParams("A table"));
      expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      const reply = sendParams("4", { message: { taskId: task.id, contextId: task.contextId } });
      const answered = await must<{ task: Task }>(`${by().url}${path}`, "SendMessage", reply);
      expect(answered.task.history?.map(({ parts }) => parts[0]?.text)).toContain("4");
      expect(answered.task.status.message?.parts).not.toEqual(task.status.message?.parts);
      expect(await get(first, task.id, path)).toEqual(await get(by(), task.id, path));
    });

    test("all nodes publish the same signing keys", async () => {
      const keys = async (node: Serving): Promise<string> => (await fetch(`${node.url}/.well-known/jwks.json`)).text();
      expect(JSON.parse(await keys(first)).keys).toHaveLength(1);
      expect(await keys(second)).toBe(await keys(first));
    });

    test("after kill -9 of the node that runs a task, another node continues it: no event is lost or repeated, no step runs twice", async () => {
      const id = await begin(first, "taken-over");
      openGates("taken-over", 2, 5);
      await until(async () => (await subscribedUpTo(second, id)) >= 5);
      const streams = [second, polling].map((node) => subscribe(node, id));
      await first.kill("SIGKILL");
      openGates("taken-over", 6, 10);
      const [one, other] = await Promise.all(streams);
      expect(one).toMatchObject(idsUpTo(10).map((event) => ({ id: event })));
      expect(other).toEqual(one);
      expect((await get(second, id)).status.state).toBe("TASK_STATE_COMPLETED");
      expect(stepsOf("taken-over")).toEqual(stepsUpTo("taken-over", 9));
    });
  },
);

/** The id of the last event that the node returns now. */
async function subscribedUpTo(node: Serving, id: string): Promise<number> {
  const frames = await collect(node.url, { method: "SubscribeToTask", params: { id } }, () => false);
  return frames[0]?.id ?? 0;
}
